// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory, and which kind of memory an address is.
#pragma once

#include "flagos_platform.h"

namespace flagos::host {

flagos_status malloc_pinned(size_t bytes, void** out);
flagos_status free_pinned(void* address);
flagos_status pointer_info(const void* address, flagos_pointer_info* out);

}  // namespace flagos::host
