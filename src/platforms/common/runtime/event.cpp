// SPDX-License-Identifier: Apache-2.0
// Events. The runtime binds an event to the device that is current when it is made, and records it on streams of that device
// only; PyTorch records where it likes. So the runtime's event is made by the first recording, and anew for another device.
#include <mutex>

#include "error.h"
#include "on_device.h"
#include "stream.h"

struct flagos_event_s {
  explicit flagos_event_s(bool with_timing) : timing(with_timing) {}

  const bool timing;
  std::mutex mutex;
  // Guarded by mutex; null and -1 until recorded.
  flagos::TORCH_FL_PLATFORM_NAMESPACE::runtime::Event native = nullptr;
  int32_t device = -1;
};

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {
namespace {

flagos_status check_event(flagos_event event, const char* function) {
  if (event) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the event is NULL", function);
}

struct Recorded {
  runtime::Event native;
  int32_t device;
};
Recorded latest(flagos_event event) {
  const std::lock_guard lock(event->mutex);
  return {event->native, event->device};
}

// Has the runtime's event belong to the device that is current. Who waits for a former one still does: destroying an event
// leaves what was queued behind it alone.
flagos_status bind(flagos_event event, int32_t device) {
  if (event->device == device) return FLAGOS_SUCCESS;
  runtime::Event fresh = nullptr;
  if (const auto status = check(runtime::create_event(&fresh, event->timing ? runtime::kWithTiming : runtime::kWithoutTiming),
                                "make an event on flagos:%d", device);
      status != FLAGOS_SUCCESS)
    return status;
  if (event->native) runtime::destroy_event(event->native);
  event->native = fresh;
  event->device = device;
  return FLAGOS_SUCCESS;
}

}  // namespace

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  *out = new flagos_event_s(enable_timing != 0);
  return FLAGOS_SUCCESS;
}

flagos_status event_destroy(flagos_event event) {
  if (!event) return FLAGOS_SUCCESS;
  flagos_status status = FLAGOS_SUCCESS;
  if (event->native) status = check(runtime::destroy_event(event->native), "destroy an event");
  delete event;
  return status;
}

flagos_status event_record(flagos_event event, int32_t device, flagos_stream stream) {
  if (const auto status = check_event(event, "event_record"); status != FLAGOS_SUCCESS) return status;
  device = device_of(stream, device);
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  const std::lock_guard lock(event->mutex);
  if (const auto status = bind(event, device); status != FLAGOS_SUCCESS) return status;
  return check(runtime::record_event(event->native, native(stream)), "record an event on flagos:%d", device);
}

flagos_status stream_wait_event(int32_t device, flagos_stream stream, flagos_event event) {
  if (const auto status = check_event(event, "stream_wait_event"); status != FLAGOS_SUCCESS) return status;
  const OnDevice scope(device_of(stream, device));
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  const std::lock_guard lock(event->mutex);
  if (!event->native) return FLAGOS_SUCCESS;
  return check(runtime::wait_for_event(native(stream), event->native, 0), "have a stream of flagos:%d wait for an event",
               device);
}

flagos_status event_query(flagos_event event) {
  if (const auto status = check_event(event, "event_query"); status != FLAGOS_SUCCESS) return status;
  const std::lock_guard lock(event->mutex);
  if (!event->native) return FLAGOS_SUCCESS;
  const runtime::Answer answer = runtime::query_event(event->native);
  if (answer.error == runtime::kNotReady) {
    runtime::forget_last_error();  // an answer, not an error
    return fail(FLAGOS_ERROR_NOT_READY, "the event's stream has not reached it");
  }
  return check(answer, "look at an event of flagos:%d", event->device);
}

flagos_status event_synchronize(flagos_event event) {
  if (const auto status = check_event(event, "event_synchronize"); status != FLAGOS_SUCCESS) return status;
  const Recorded recorded = latest(event);  // not under the lock: others may record it again meanwhile
  if (!recorded.native) return FLAGOS_SUCCESS;
  return check(runtime::synchronize_event(recorded.native), "wait for an event of flagos:%d", recorded.device);
}

flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds) {
  Recorded recorded[2];
  for (int side : {0, 1}) {
    const char* which = side == 0 ? "start" : "end";
    flagos_event event = side == 0 ? start : end;
    if (const auto status = check_event(event, "event_elapsed"); status != FLAGOS_SUCCESS) return status;
    if (!event->timing)
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "elapsed time: the %s event was made without enable_timing", which);
    recorded[side] = latest(event);
    if (!recorded[side].native)
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "elapsed time: the %s event was never recorded", which);
    if (runtime::query_event(recorded[side].native).error == runtime::kNotReady) {
      runtime::forget_last_error();
      return fail(FLAGOS_ERROR_NOT_READY, "elapsed time: the %s event is not reached yet; synchronise first", which);
    }
  }
  if (recorded[0].device != recorded[1].device)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT,
                "elapsed time: the events were recorded on flagos:%d and flagos:%d; take two of one device", recorded[0].device,
                recorded[1].device);
  float elapsed = 0;
  const auto status =
      check(runtime::elapsed_time(&elapsed, recorded[0].native, recorded[1].native), "read the time between two events");
  *milliseconds = elapsed;
  return status;
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
