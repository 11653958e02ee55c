// SPDX-License-Identifier: Apache-2.0
// Streams: a flagos_stream is a musaStream_t.
#pragma once

#include "error.h"

namespace flagos::musa {

inline musaStream_t native(flagos_stream stream) { return reinterpret_cast<musaStream_t>(stream); }

// The device that a stream was made on; of the null stream, and of one that another library has made, `device`.
int32_t device_of(flagos_stream stream, int32_t device);

}  // namespace flagos::musa
