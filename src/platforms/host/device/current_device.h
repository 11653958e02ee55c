// SPDX-License-Identifier: Apache-2.0
// The calling thread's device.  Work on a stream sees that stream's device.
#pragma once

#include <cstdint>

namespace flagos::host {

inline thread_local constinit int32_t current_device = 0;

}  // namespace flagos::host
