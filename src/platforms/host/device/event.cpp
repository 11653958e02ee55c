// SPDX-License-Identifier: Apache-2.0
#include "contract.h"

#include "devices.h"
#include "streams.h"

// An event is a name for its latest recording.  Who waits holds the recording, not the event: recording again or
// destroying the event changes nothing for them.
struct flagos_event_s {
  explicit flagos_event_s(bool with_timing) : timing(with_timing) {}

  flagos::host::RecordPointer latest() {
    std::lock_guard lock(mutex);
    return record;
  }

  const bool timing;
  std::mutex mutex;
  flagos::host::RecordPointer record;  // guarded by mutex; null until recorded
};

namespace flagos::host {
namespace {

flagos_status check_event(flagos_event event, const char* function) {
  if (event) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the event is NULL", function);
}

}  // namespace

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  *out = new flagos_event_s(enable_timing != 0);
  return FLAGOS_SUCCESS;
}

flagos_status event_destroy(flagos_event event) {
  delete event;
  return FLAGOS_SUCCESS;
}

flagos_status event_record(flagos_event event, int32_t device, flagos_stream handle) {
  if (const auto status = check_event(event, "event_record"); status != FLAGOS_SUCCESS) return status;
  Stream* stream = resolve(device, handle);
  if (!stream) return FLAGOS_ERROR_INVALID_ARGUMENT;
  auto record = std::make_shared<Record>();
  {
    std::lock_guard lock(event->mutex);
    event->record = record;
  }
  stream->record(std::move(record));
  return FLAGOS_SUCCESS;
}

flagos_status stream_wait_event(int32_t device, flagos_stream handle, flagos_event event) {
  if (const auto status = check_event(event, "stream_wait_event"); status != FLAGOS_SUCCESS) return status;
  Stream* stream = resolve(device, handle);
  if (!stream) return FLAGOS_ERROR_INVALID_ARGUMENT;
  stream->wait_for(event->latest());
  return FLAGOS_SUCCESS;
}

flagos_status event_query(flagos_event event) {
  if (const auto status = check_event(event, "event_query"); status != FLAGOS_SUCCESS) return status;
  const auto record = event->latest();
  if (!record || record->reached()) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_NOT_READY, "the event's stream has not reached it");
}

flagos_status event_synchronize(flagos_event event) {
  if (const auto status = check_event(event, "event_synchronize"); status != FLAGOS_SUCCESS) return status;
  const auto record = event->latest();
  if (!record) return FLAGOS_SUCCESS;
  if (const auto status = record->wait(); status != FLAGOS_SUCCESS) return status;
  return report(record->failure());
}

flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds) {
  Record::Clock::time_point times[2];
  for (int side : {0, 1}) {
    const char* which = side == 0 ? "start" : "end";
    flagos_event event = side == 0 ? start : end;
    if (const auto status = check_event(event, "event_elapsed"); status != FLAGOS_SUCCESS) return status;
    if (!event->timing)
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "elapsed time: the %s event was made without enable_timing", which);
    const auto record = event->latest();
    if (!record) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "elapsed time: the %s event was never recorded", which);
    if (!record->reached())
      return fail(FLAGOS_ERROR_NOT_READY, "elapsed time: the %s event is not reached yet; synchronise first", which);
    times[side] = record->time();
  }
  *milliseconds = std::chrono::duration<double, std::milli>(times[1] - times[0]).count();
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::host
