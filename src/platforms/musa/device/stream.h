// SPDX-License-Identifier: Apache-2.0
// Streams: a flagos_stream is a musaStream_t.
#pragma once

#include "error.h"

namespace flagos::musa {

inline musaStream_t native(flagos_stream stream) { return reinterpret_cast<musaStream_t>(stream); }

// The device that a stream was made on; of the null stream, and of one that another library has made, `device`.
int32_t device_of(flagos_stream stream, int32_t device);

flagos_status stream_priority_range(int32_t* least, int32_t* greatest);
flagos_status stream_create(int32_t device, int32_t priority, flagos_stream* out);
flagos_status stream_destroy(flagos_stream stream);
flagos_status stream_query(int32_t device, flagos_stream stream);
flagos_status stream_synchronize(int32_t device, flagos_stream stream);

// On an emulated card only (flagos_emulation.h).
flagos_status launch_host_function(int32_t device, flagos_stream stream, flagos_host_function function, void* argument);
flagos_status host_offset(ptrdiff_t* bytes);

}  // namespace flagos::musa
