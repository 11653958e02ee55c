// SPDX-License-Identifier: Apache-2.0
// The emulated devices: how many, which is current, what they are.
#pragma once

#include "settings.h"

namespace flagos::host {

void set_devices(const Settings& settings);

// FLAGOS_SUCCESS for an index that exists, else FLAGOS_ERROR_INVALID_ARGUMENT with the sentence stored.
flagos_status check_device(int32_t device);

flagos_status get_device(int32_t* device);
flagos_status set_device(int32_t device);
flagos_status device_properties(int32_t device, flagos_device_properties* out);
flagos_status can_access_peer(int32_t device, int32_t peer, int32_t* yes);

}  // namespace flagos::host
