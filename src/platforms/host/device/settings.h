// SPDX-License-Identifier: Apache-2.0
// What the environment says about the emulated devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flagos_platform.h"

namespace flagos::host {

inline constexpr size_t kMiB = size_t{1} << 20;
inline constexpr size_t kGiB = size_t{1} << 30;
inline constexpr int32_t kMostDevices = 64;
inline constexpr size_t kLargestMemory = 256 * kGiB;

struct Settings {
  int32_t devices = 2;       // FLAGOS_HOST_DEVICES, 1 to 64
  size_t memory = 8 * kGiB;  // FLAGOS_HOST_MEMORY, bytes a device; a whole number of pages
  bool guard = false;        // FLAGOS_HOST_GUARD
  bool copies = false;       // FLAGOS_HOST_COPIES: CPU kernels must not work on the devices' own bytes, as with a card
};

// Reads all four variables; an unset or empty one keeps its default.  FLAGOS_ERROR_INVALID_ARGUMENT names the bad one.
flagos_status read_settings(Settings* out);

}  // namespace flagos::host
