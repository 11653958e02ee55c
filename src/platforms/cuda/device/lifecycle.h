// SPDX-License-Identifier: Apache-2.0
// Start and fork. Neither CUDA nor PyTorch's part for it is touched when this library is loaded, but on first use.
#pragma once

#include <atomic>

#include "error.h"

namespace flagos::cuda {

// Finds devices and has PyTorch initialise CUDA. Safe to call again, also after a failure.
flagos_status initialize();

// 0, with the reason stored, on a machine without driver or card.
flagos_status device_count(int32_t* count);

// True between a successful initialize and a fork (in the child).
inline std::atomic<bool> ready{false};

// The reason why `ready` is false, as a failure.
flagos_status not_ready();

}  // namespace flagos::cuda
