// SPDX-License-Identifier: Apache-2.0
// Device and page-locked memory.
//
// The runtime tells neither where an allocation starts nor how large it is, and knows an address only while its device is
// current; hence a register of what was allocated here.
#pragma once

#include "error.h"

namespace flagos::musa {

flagos_status malloc_device(int32_t device, size_t bytes, void** out);
flagos_status free_device(int32_t device, void* address);
flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes);
flagos_status pointer_info(const void* address, flagos_pointer_info* out);
flagos_status malloc_pinned(size_t bytes, void** out);
flagos_status free_pinned(void* address);

}  // namespace flagos::musa
