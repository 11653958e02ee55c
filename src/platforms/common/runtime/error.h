// SPDX-License-Identifier: Apache-2.0
// Errors of the runtime as sentences and numbers of the contract.
#pragma once

#include "contract.h"
#include "names.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

// FLAGOS_SUCCESS where the runtime has said so. Otherwise the sentence is made of what was attempted ("allocate memory",
// printf-style), of the runtime's function and text, and of a remedy; the runtime's own record of the error is cleared, since
// others look at it, too.
[[gnu::format(printf, 2, 3)]] flagos_status check(runtime::Answer answer, const char* attempt, ...);

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
