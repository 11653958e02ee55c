// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "call.h"
#include "contract.h"
#include "current_device.h"

struct EventState {
  flagos_event inner;
  int32_t device;
  bool timing;
  bool recorded = false;
};

namespace runtime {
namespace {

Error create_stream(RT(Stream_t) * out, unsigned int flags, int priority) {
  if (!out) return RT(ErrorInvalidValue);
  if (flags > RT(StreamNonBlocking)) return refuse(RT(ErrorInvalidValue), "a stream has no flags %#x", flags);
  int32_t least = 0, greatest = 0;
  host::stream_priority_range(&least, &greatest);
  void* stream =
      emulation::create_stream(host::current_device, std::clamp(priority, greatest, least), flags == RT(StreamDefault));
  *out = static_cast<RT(Stream_t)>(stream);
  return stream ? RT(Success) : RT(ErrorUnknown);
}

template <typename Body>
Error with_stream(const char* function, RT(Stream_t) handle, Body&& body) {
  const auto stream = emulation::find_stream(handle);
  if (!stream) return refuse(RT(ErrorInvalidResourceHandle), "%s: not a stream, or destroyed already", function);
  return body(*stream);
}

struct Events {
  std::mutex mutex;
  std::unordered_map<RT(Event_t), EventState> live;  // guarded by mutex; the key is the handle
};
Events& events() {
  static auto* instance = new Events();
  return *instance;
}

Error create_event(RT(Event_t) * out, unsigned int flags) {
  if (!out) return RT(ErrorInvalidValue);
  if (flags > (RT(EventBlockingSync) | RT(EventDisableTiming) | RT(EventInterprocess)))
    return refuse(RT(ErrorInvalidValue), "an event has no flags %#x", flags);
  if (flags & RT(EventInterprocess)) return refuse(RT(ErrorNotSupported), "emulated events stay in their process");
  const bool timing = !(flags & RT(EventDisableTiming));
  flagos_event inner = nullptr;
  if (const auto status = host::event_create(host::current_device, timing, &inner)) return translate(status);
  auto& [mutex, live] = events();
  const std::lock_guard lock(mutex);
  *out = reinterpret_cast<RT(Event_t)>(inner);
  live[*out] = {inner, host::current_device, timing};
  return RT(Success);
}

// The event behind a handle; `device` >= 0 is about to record it.
Error find_event(const char* function, RT(Event_t) handle, EventState* out, int32_t device = -1) {
  auto& [mutex, live] = events();
  const std::lock_guard lock(mutex);
  const auto found = live.find(handle);
  if (found == live.end()) return refuse(RT(ErrorInvalidResourceHandle), "%s: not an event, or destroyed already", function);
  if (device >= 0 && device != found->second.device)
    return refuse(RT(ErrorInvalidResourceHandle), "%s: the event belongs to device %d, the stream to device %d", function,
                  found->second.device, device);
  found->second.recorded |= device >= 0;
  *out = found->second;
  return RT(Success);
}

template <typename Body>
Error with_event(const char* function, RT(Event_t) handle, Body&& body) {
  EventState event;
  if (const auto error = find_event(function, handle, &event)) return error;
  return body(event);
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

Error RT(StreamCreate)(RT(Stream_t) * stream) {
  return call(__func__, [&] { return create_stream(stream, RT(StreamDefault), 0); });
}

Error RT(StreamCreateWithFlags)(RT(Stream_t) * stream, unsigned int flags) {
  return call(__func__, [&] { return create_stream(stream, flags, 0); });
}

Error RT(StreamCreateWithPriority)(RT(Stream_t) * stream, unsigned int flags, int priority) {
  return call(__func__, [&] { return create_stream(stream, flags, priority); });
}

Error RT(StreamGetPriority)(RT(Stream_t) stream, int* priority) {
  return call(RT_NAME(StreamGetPriority), [&] {
    if (!priority) return RT(ErrorInvalidValue);
    return with_stream(RT_NAME(StreamGetPriority), stream, [&](const emulation::StreamInfo& found) {
      *priority = found.priority;
      return RT(Success);
    });
  });
}

Error RT(StreamDestroy)(RT(Stream_t) stream) {
  return call(__func__, [&] {
    if (emulation::destroy_stream(stream)) return RT(Success);
    return refuse(RT(ErrorInvalidResourceHandle),
                  RT_NAME(StreamDestroy) ": not a stream that was created, or destroyed already");
  });
}

Error RT(StreamQuery)(RT(Stream_t) stream) {
  return call(__func__, [&] {
    return with_stream(RT_NAME(StreamQuery), stream, [](const emulation::StreamInfo& found) {
      return translate(host::stream_query(found.device, found.inner));
    });
  });
}

Error RT(StreamSynchronize)(RT(Stream_t) stream) {
  return call(
      __func__,
      [&] {
        return with_stream(RT_NAME(StreamSynchronize), stream, [](const emulation::StreamInfo& found) {
          return translate(host::stream_synchronize(found.device, found.inner));
        });
      },
      FLAGOS_EMULATION_SYNCHRONIZE);
}

Error RT(StreamWaitEvent)(RT(Stream_t) stream, RT(Event_t) handle, unsigned int flags) {
  return call(__func__, [&]() -> Error {
    if (flags != 0) return refuse(RT(ErrorInvalidValue), RT_NAME(StreamWaitEvent) ": the flags must be 0");
    return with_stream(RT_NAME(StreamWaitEvent), stream, [&](const emulation::StreamInfo& found) {
      return with_event(RT_NAME(StreamWaitEvent), handle, [&](const EventState& event) {
        emulation::ordered(found);
        return translate(host::stream_wait_event(found.device, found.inner, event.inner));
      });
    });
  });
}

Error RT(EventCreate)(RT(Event_t) * event) {
  return call(__func__, [&] { return create_event(event, RT(EventDefault)); });
}

Error RT(EventCreateWithFlags)(RT(Event_t) * event, unsigned int flags) {
  return call(__func__, [&] { return create_event(event, flags); });
}

Error RT(EventDestroy)(RT(Event_t) handle) {
  return call(__func__, [&] {
    EventState event;
    if (const auto error = find_event(RT_NAME(EventDestroy), handle, &event)) return error;
    auto& [mutex, live] = events();
    const std::lock_guard lock(mutex);
    if (live.erase(handle) == 0) return RT(ErrorInvalidResourceHandle);
    return translate(host::event_destroy(event.inner));
  });
}

Error RT(EventRecord)(RT(Event_t) handle, RT(Stream_t) stream) {
  return call(__func__, [&] {
    return with_stream(RT_NAME(EventRecord), stream, [&](const emulation::StreamInfo& found) {
      EventState event;
      if (const auto error = find_event(RT_NAME(EventRecord), handle, &event, found.device)) return error;
      emulation::ordered(found);
      return translate(host::event_record(event.inner, found.device, found.inner));
    });
  });
}

Error RT(EventQuery)(RT(Event_t) handle) {
  return call(__func__, [&] {
    return with_event(RT_NAME(EventQuery), handle,
                      [](const EventState& event) { return translate(host::event_query(event.inner)); });
  });
}

Error RT(EventSynchronize)(RT(Event_t) handle) {
  return call(
      __func__,
      [&] {
        return with_event(RT_NAME(EventSynchronize), handle,
                          [](const EventState& event) { return translate(host::event_synchronize(event.inner)); });
      },
      FLAGOS_EMULATION_SYNCHRONIZE);
}

Error RT(EventElapsedTime)(float* milliseconds, RT(Event_t) start, RT(Event_t) end) {
  return call(__func__, [&]() -> Error {
    if (!milliseconds) return RT(ErrorInvalidValue);
    EventState first, second;
    if (const auto error = find_event(RT_NAME(EventElapsedTime), start, &first)) return error;
    if (const auto error = find_event(RT_NAME(EventElapsedTime), end, &second)) return error;
    if (!first.timing || !second.timing || !first.recorded || !second.recorded || first.device != second.device)
      return refuse(RT(ErrorInvalidResourceHandle),
                    RT_NAME(EventElapsedTime) ": two recorded events of one device, made with timing");
    double elapsed = 0;
    const auto error = translate(host::event_elapsed(first.inner, second.inner, &elapsed));
    *milliseconds = static_cast<float>(elapsed);
    return error;
  });
}
}
