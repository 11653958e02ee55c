// SPDX-License-Identifier: Apache-2.0
// Start and fork. The runtime is called on first use only, never when this library is loaded.
#pragma once

#include "life.h"

namespace flagos::musa {

// Finds devices and checks the runtime's version. Safe to call again, also after a failure.
flagos_status initialize();

// 0, with the reason stored, on a machine without driver or card.
flagos_status device_count(int32_t* count);

}  // namespace flagos::musa
