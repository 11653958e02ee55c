// SPDX-License-Identifier: Apache-2.0
// Device memory: blocks of whole pages, with a limit a device.
//
// Freed pages go back to the system at once.  Caching is the core's task; so is keeping a block until the work that
// uses it is done: freeing does not wait.
#pragma once

#include "address_space.h"

namespace flagos::host {

flagos_status reserve_memory(const Settings& settings);
const AddressSpace& address_space();

// Fills `out` when the address is in a live block.
bool find_device_block(const void* address, flagos_pointer_info* out);

}  // namespace flagos::host
