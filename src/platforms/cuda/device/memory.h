// SPDX-License-Identifier: Apache-2.0
// Device and page-locked memory straight from the runtime, and copies. Tensors do not lie in it: theirs is PyTorch's.
#pragma once

#include "error.h"

namespace flagos::cuda {

flagos_status malloc_device(int32_t device, size_t bytes, void** out);
flagos_status free_device(int32_t device, void* address);
flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes);
flagos_status pointer_info(const void* address, flagos_pointer_info* out);  // the extent of a block stays unknown (size 0)
flagos_status malloc_pinned(size_t bytes, void** out);
flagos_status free_pinned(void* address);

flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream);
flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream stream);

}  // namespace flagos::cuda
