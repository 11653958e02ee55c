// SPDX-License-Identifier: Apache-2.0
// The sentence behind the calling thread's last failure.
#pragma once

#include "flagos_platform.h"

namespace flagos::host {

// Stores a printf-style sentence for the calling thread and returns `status`, so that `return fail(...)` reads well.
[[gnu::format(printf, 2, 3)]] flagos_status fail(flagos_status status, const char* format, ...);

// The last stored sentence; "" before the first failure.  Valid until the thread's next failure.
const char* last_error();

}  // namespace flagos::host
