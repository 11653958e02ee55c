// SPDX-License-Identifier: Apache-2.0
// Start, fork and exit.
#pragma once

#include "life.h"

namespace flagos::host {

// Reads the settings, reserves addresses, makes the default streams.  Safe to call again; after a failure it can be
// called again with better settings.
flagos_status initialize();

flagos_status device_count(int32_t* count);

}  // namespace flagos::host
