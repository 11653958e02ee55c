// SPDX-License-Identifier: Apache-2.0
// Says why a wrong access to device memory ends the process.
#pragma once

#include "address_space.h"

namespace flagos::host {

// Installs a SIGSEGV handler that adds one sentence on stderr when the address is ours, and then does what was done
// before: the former handler (Python's faulthandler, say) or the default action.  `space` must live for ever.
// A faulthandler enabled later hides the address from us: its traceback appears, our sentence does not.
void install_fault_handler(const AddressSpace& space);

}  // namespace flagos::host
