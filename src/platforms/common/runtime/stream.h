// SPDX-License-Identifier: Apache-2.0
// Streams: a flagos_stream is the runtime's.
#pragma once

#include "error.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

inline runtime::Stream native(flagos_stream stream) { return reinterpret_cast<runtime::Stream>(stream); }

// The device that a stream was made on; of the null stream, and of one that another library has made, `device`.
int32_t device_of(flagos_stream stream, int32_t device);

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
