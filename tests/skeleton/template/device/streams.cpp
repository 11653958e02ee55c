// SPDX-License-Identifier: Apache-2.0
// Streams and events: the runtime has what the contract wants, except priorities.
#include "runtime.h"

namespace flagos::skeleton {

flagos_status stream_priority_range(int32_t* least, int32_t* greatest) {
  *least = *greatest = 0;
  return FLAGOS_SUCCESS;
}
flagos_status stream_create(int32_t device, int32_t, flagos_stream* out) {
  return check(skeletonStreamCreate(device, reinterpret_cast<skeletonStream*>(out)), "make a stream");
}
flagos_status stream_destroy(flagos_stream stream) {
  if (!stream) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "stream_destroy: a default stream lives as long as its device");
  return check(skeletonStreamDestroy(native(stream)), "destroy a stream");
}
flagos_status stream_query(int32_t device, flagos_stream stream) {
  return check(skeletonStreamQuery(device, native(stream)), "look at a stream");
}
flagos_status stream_synchronize(int32_t device, flagos_stream stream) {
  return check(skeletonStreamSynchronize(device, native(stream)), "finish a stream's work");
}
flagos_status stream_wait_event(int32_t device, flagos_stream stream, flagos_event event) {
  return check(skeletonStreamWait(device, native(stream), native(event)), "have a stream wait for an event");
}

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out) {
  return check(skeletonEventCreate(device, enable_timing, reinterpret_cast<skeletonEvent*>(out)), "make an event");
}
flagos_status event_destroy(flagos_event event) {
  return event ? check(skeletonEventDestroy(native(event)), "destroy an event") : FLAGOS_SUCCESS;
}
flagos_status event_record(flagos_event event, int32_t device, flagos_stream stream) {
  return check(skeletonEventRecord(native(event), device, native(stream)), "record an event");
}
flagos_status event_query(flagos_event event) { return check(skeletonEventQuery(native(event)), "look at an event"); }
flagos_status event_synchronize(flagos_event event) { return check(skeletonEventSynchronize(native(event)), "wait for an event"); }
flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds) {
  return check(skeletonEventElapsed(native(start), native(end), milliseconds), "read the time between two events");
}

}  // namespace flagos::skeleton
