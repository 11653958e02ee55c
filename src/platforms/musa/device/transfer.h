// SPDX-License-Identifier: Apache-2.0
// Copies and fills in stream order.
#pragma once

#include "error.h"

namespace flagos::musa {

// A null stream is the default stream of the destination's device, or of the source's when the destination is host memory. Host
// memory, pinned or not, must stay until the stream has done the copy.
flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream);
flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream stream);

}  // namespace flagos::musa
