// SPDX-License-Identifier: Apache-2.0
// Start, fork and exit.
#pragma once

#include <atomic>

#include "flagos_platform.h"

namespace flagos::host {

// Reads the settings, reserves addresses, makes the default streams.  Safe to call again; after a failure it can be
// called again with better settings.
flagos_status initialize();

flagos_status device_count(int32_t* count);

// True between a successful initialize and a fork (in the child).
inline std::atomic<bool> ready{false};

// The reason why `ready` is false, as a failure.
flagos_status not_ready();

}  // namespace flagos::host
