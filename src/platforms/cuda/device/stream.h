// SPDX-License-Identifier: Apache-2.0
// Streams and events: a flagos_stream is a cudaStream_t, a flagos_event a cudaEvent_t of the device that it was made for.
#pragma once

#include "error.h"

namespace flagos::cuda {

inline cudaStream_t native(flagos_stream stream) { return reinterpret_cast<cudaStream_t>(stream); }
inline cudaEvent_t native(flagos_event event) { return reinterpret_cast<cudaEvent_t>(event); }

}  // namespace flagos::cuda
