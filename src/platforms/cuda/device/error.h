// SPDX-License-Identifier: Apache-2.0
// Errors of the runtime as sentences and numbers of the contract.
#pragma once

#include <cuda_runtime_api.h>

#include "contract.h"

namespace flagos::cuda {

// FLAGOS_SUCCESS for cudaSuccess. Otherwise the sentence is made of what was attempted ("allocate memory", printf-style), of
// the runtime's function and text, and of a remedy; the runtime's own record of the error is cleared, since PyTorch looks at it.
[[gnu::format(printf, 3, 4)]] flagos_status check(cudaError_t error, const char* function, const char* attempt, ...);

}  // namespace flagos::cuda
