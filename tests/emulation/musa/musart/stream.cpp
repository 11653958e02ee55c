// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "call.h"
#include "current_device.h"
#include "contract.h"

struct MUevent_st {
  flagos_event inner;
  int32_t device;
  bool timing;
  bool recorded = false;
};

namespace musart {
namespace {

musaError_t create_stream(musaStream_t* out, unsigned int flags, int priority) {
  if (!out) return musaErrorInvalidValue;
  if (flags > musaStreamNonBlocking) return refuse(musaErrorInvalidValue, "a stream has no flags %#x", flags);
  int32_t least = 0, greatest = 0;
  host::stream_priority_range(&least, &greatest);
  void* stream =
      emulation::create_stream(host::current_device, std::clamp(priority, greatest, least), flags == musaStreamDefault);
  *out = static_cast<musaStream_t>(stream);
  return stream ? musaSuccess : musaErrorUnknown;
}

template <typename Body>
musaError_t with_stream(const char* function, musaStream_t handle, Body&& body) {
  const auto stream = emulation::find_stream(handle);
  if (!stream) return refuse(musaErrorInvalidResourceHandle, "%s: not a stream, or destroyed already", function);
  return body(*stream);
}

struct Events {
  std::mutex mutex;
  std::unordered_map<musaEvent_t, MUevent_st> live;  // guarded by mutex; the key is the handle
};
Events& events() {
  static auto* instance = new Events();
  return *instance;
}

musaError_t create_event(musaEvent_t* out, unsigned int flags) {
  if (!out) return musaErrorInvalidValue;
  if (flags > (musaEventBlockingSync | musaEventDisableTiming | musaEventInterprocess))
    return refuse(musaErrorInvalidValue, "an event has no flags %#x", flags);
  if (flags & musaEventInterprocess) return refuse(musaErrorNotSupported, "emulated events stay in their process");
  const bool timing = !(flags & musaEventDisableTiming);
  flagos_event inner = nullptr;
  if (const auto status = host::event_create(host::current_device, timing, &inner)) return translate(status);
  auto& [mutex, live] = events();
  const std::lock_guard lock(mutex);
  *out = reinterpret_cast<musaEvent_t>(inner);
  live[*out] = {inner, host::current_device, timing};
  return musaSuccess;
}

// The event behind a handle; `device` >= 0 is about to record it.
musaError_t find_event(const char* function, musaEvent_t handle, MUevent_st* out, int32_t device = -1) {
  auto& [mutex, live] = events();
  const std::lock_guard lock(mutex);
  const auto found = live.find(handle);
  if (found == live.end()) return refuse(musaErrorInvalidResourceHandle, "%s: not an event, or destroyed already", function);
  if (device >= 0 && device != found->second.device)
    return refuse(musaErrorInvalidResourceHandle, "%s: the event belongs to MUSA device %d, the stream to device %d", function,
                  found->second.device, device);
  found->second.recorded |= device >= 0;
  *out = found->second;
  return musaSuccess;
}

template <typename Body>
musaError_t with_event(const char* function, musaEvent_t handle, Body&& body) {
  MUevent_st event;
  if (const auto error = find_event(function, handle, &event)) return error;
  return body(event);
}

}  // namespace
}  // namespace musart

using namespace musart;

extern "C" {

musaError_t musaStreamCreate(musaStream_t* stream) {
  return call(__func__, [&] { return create_stream(stream, musaStreamDefault, 0); });
}

musaError_t musaStreamCreateWithFlags(musaStream_t* stream, unsigned int flags) {
  return call(__func__, [&] { return create_stream(stream, flags, 0); });
}

musaError_t musaStreamCreateWithPriority(musaStream_t* stream, unsigned int flags, int priority) {
  return call(__func__, [&] { return create_stream(stream, flags, priority); });
}

musaError_t musaStreamGetPriority(musaStream_t stream, int* priority) {
  return call("musaStreamGetPriority", [&] {
    if (!priority) return musaErrorInvalidValue;
    return with_stream("musaStreamGetPriority", stream, [&](const emulation::StreamInfo& found) {
      *priority = found.priority;
      return musaSuccess;
    });
  });
}

musaError_t musaStreamDestroy(musaStream_t stream) {
  return call(__func__, [&] {
    if (emulation::destroy_stream(stream)) return musaSuccess;
    return refuse(musaErrorInvalidResourceHandle, "musaStreamDestroy: not a stream that was created, or destroyed already");
  });
}

musaError_t musaStreamQuery(musaStream_t stream) {
  return call(__func__, [&] {
    return with_stream("musaStreamQuery", stream, [](const emulation::StreamInfo& found) {
      return translate(host::stream_query(found.device, found.inner));
    });
  });
}

musaError_t musaStreamSynchronize(musaStream_t stream) {
  return call(
      __func__,
      [&] {
        return with_stream("musaStreamSynchronize", stream, [](const emulation::StreamInfo& found) {
          return translate(host::stream_synchronize(found.device, found.inner));
        });
      },
      FLAGOS_EMULATION_SYNCHRONIZE);
}

musaError_t musaStreamWaitEvent(musaStream_t stream, musaEvent_t handle, unsigned int flags) {
  return call(__func__, [&]() -> musaError_t {
    if (flags != 0) return refuse(musaErrorInvalidValue, "musaStreamWaitEvent: the flags must be 0");
    return with_stream("musaStreamWaitEvent", stream, [&](const emulation::StreamInfo& found) {
      return with_event("musaStreamWaitEvent", handle, [&](const MUevent_st& event) {
        emulation::ordered(found);
        return translate(host::stream_wait_event(found.device, found.inner, event.inner));
      });
    });
  });
}

musaError_t musaEventCreate(musaEvent_t* event) {
  return call(__func__, [&] { return create_event(event, musaEventDefault); });
}

musaError_t musaEventCreateWithFlags(musaEvent_t* event, unsigned int flags) {
  return call(__func__, [&] { return create_event(event, flags); });
}

musaError_t musaEventDestroy(musaEvent_t handle) {
  return call(__func__, [&] {
    MUevent_st event;
    if (const auto error = find_event("musaEventDestroy", handle, &event)) return error;
    auto& [mutex, live] = events();
    const std::lock_guard lock(mutex);
    if (live.erase(handle) == 0) return musaErrorInvalidResourceHandle;
    return translate(host::event_destroy(event.inner));
  });
}

musaError_t musaEventRecord(musaEvent_t handle, musaStream_t stream) {
  return call(__func__, [&] {
    return with_stream("musaEventRecord", stream, [&](const emulation::StreamInfo& found) {
      MUevent_st event;
      if (const auto error = find_event("musaEventRecord", handle, &event, found.device)) return error;
      emulation::ordered(found);
      return translate(host::event_record(event.inner, found.device, found.inner));
    });
  });
}

musaError_t musaEventQuery(musaEvent_t handle) {
  return call(__func__, [&] {
    return with_event("musaEventQuery", handle,
                      [](const MUevent_st& event) { return translate(host::event_query(event.inner)); });
  });
}

musaError_t musaEventSynchronize(musaEvent_t handle) {
  return call(
      __func__,
      [&] {
        return with_event("musaEventSynchronize", handle,
                          [](const MUevent_st& event) { return translate(host::event_synchronize(event.inner)); });
      },
      FLAGOS_EMULATION_SYNCHRONIZE);
}

musaError_t musaEventElapsedTime(float* milliseconds, musaEvent_t start, musaEvent_t end) {
  return call(__func__, [&]() -> musaError_t {
    if (!milliseconds) return musaErrorInvalidValue;
    MUevent_st first, second;
    if (const auto error = find_event("musaEventElapsedTime", start, &first)) return error;
    if (const auto error = find_event("musaEventElapsedTime", end, &second)) return error;
    if (!first.timing || !second.timing || !first.recorded || !second.recorded || first.device != second.device)
      return refuse(musaErrorInvalidResourceHandle,
                    "musaEventElapsedTime: two recorded events of one device, made with timing");
    double elapsed = 0;
    const auto error = translate(host::event_elapsed(first.inner, second.inner, &elapsed));
    *milliseconds = static_cast<float>(elapsed);
    return error;
  });
}
}
