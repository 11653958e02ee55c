// SPDX-License-Identifier: Apache-2.0
// host_address.h: for launchers of compiled kernels (Triton's) that need the CPU address of device memory.
#pragma once

#include <cstddef>

#include "macros.h"

namespace torch_fl {

// Whether this platform's devices are emulated in host memory and take CPU work on their streams. Touches no device.
TORCH_FL_API bool compiled_kernels_run_on_host() noexcept;
TORCH_FL_API std::ptrdiff_t device_to_host_offset();  // add it to a device address

}  // namespace torch_fl
