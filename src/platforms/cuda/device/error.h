// SPDX-License-Identifier: Apache-2.0
// The sentence behind the calling thread's last failure.
#pragma once

#include <cuda_runtime_api.h>
#include <flagos_platform.h>

namespace flagos::cuda {

// Stores a printf-style sentence for the calling thread and returns `status`, so that `return fail(...)` reads well.
[[gnu::format(printf, 2, 3)]] flagos_status fail(flagos_status status, const char* format, ...);

// The last stored sentence; "" before the first failure. Valid until the thread's next failure.
const char* last_error();

// FLAGOS_SUCCESS for cudaSuccess. Otherwise the sentence is made of what was attempted ("allocate memory", printf-style), of
// the runtime's function and text, and of a remedy; the runtime's own record of the error is cleared, since PyTorch looks at it.
[[gnu::format(printf, 3, 4)]] flagos_status check(cudaError_t error, const char* function, const char* attempt, ...);

}  // namespace flagos::cuda
