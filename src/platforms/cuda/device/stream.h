// SPDX-License-Identifier: Apache-2.0
// Streams and events: a flagos_stream is a cudaStream_t, a flagos_event a cudaEvent_t of the device that it was made for.
#pragma once

#include "error.h"

namespace flagos::cuda {

inline cudaStream_t native(flagos_stream stream) { return reinterpret_cast<cudaStream_t>(stream); }
inline cudaEvent_t native(flagos_event event) { return reinterpret_cast<cudaEvent_t>(event); }

flagos_status stream_priority_range(int32_t* least, int32_t* greatest);
flagos_status stream_create(int32_t device, int32_t priority, flagos_stream* out);
flagos_status stream_destroy(flagos_stream stream);
flagos_status stream_query(int32_t device, flagos_stream stream);
flagos_status stream_synchronize(int32_t device, flagos_stream stream);
flagos_status stream_wait_event(int32_t device, flagos_stream stream, flagos_event event);

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out);
flagos_status event_destroy(flagos_event event);
flagos_status event_record(flagos_event event, int32_t device, flagos_stream stream);
flagos_status event_query(flagos_event event);
flagos_status event_synchronize(flagos_event event);
flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds);

}  // namespace flagos::cuda
