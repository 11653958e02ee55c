// SPDX-License-Identifier: Apache-2.0
// Start and fork. Neither CUDA nor PyTorch's part for it is touched when this library is loaded, but on first use.
#pragma once

#include "life.h"

namespace flagos::cuda {

// Finds devices and has PyTorch initialise CUDA. Safe to call again, also after a failure.
flagos_status initialize();

// 0, with the reason stored, on a machine without driver or card.
flagos_status device_count(int32_t* count);

}  // namespace flagos::cuda
