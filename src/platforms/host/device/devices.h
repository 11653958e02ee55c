// SPDX-License-Identifier: Apache-2.0
// The emulated devices: how many, which is current, what they are.
#pragma once

#include "settings.h"

namespace flagos::host {

void set_devices(const Settings& settings);

// FLAGOS_SUCCESS for an index that exists, else FLAGOS_ERROR_INVALID_ARGUMENT with the sentence stored.
flagos_status check_device(int32_t device);

}  // namespace flagos::host
