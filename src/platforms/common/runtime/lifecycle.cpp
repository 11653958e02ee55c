// SPDX-License-Identifier: Apache-2.0
// Start and fork. The runtime is called on first use only, never when this library is loaded. On a machine without driver or
// card there are 0 devices, and the reason is stored.

#include <cstdlib>

#include "error.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {
namespace {

std::atomic<int32_t> devices{0};  // 0: not asked yet, or none

// The major version in a number of the runtime: 5.1.0 is 50100, 4.3 has also been 4030. 0 for numbers of another kind, such as
// the CUDA version that the interface follows.
int major_of(int version) {
  const int major = version < 10000 ? version / 1000 : version / 10000;
  return major >= 2 && major <= 9 ? major : 0;
}

// The loader may have found an SDK that is older or newer than the one that this library was compiled for.
flagos_status check_version() {
  const int built = std::atoi(TORCH_FL_SDK_VERSION);
  int version = 0;
  if (const auto status = check(runtime::runtime_version(&version), "read the version of the %s runtime", vendor::kTitle);
      status != FLAGOS_SUCCESS)
    return status;
  const int found = major_of(version);
  if (built == 0 || found == 0 || found == built) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_SYSTEM,
              "the %s runtime here is of %s %d (version %d), and torch-fl was built for %s %s: install the torch-fl build for "
              "%s %d, or a %s "
              "%d toolkit",
              vendor::kTitle, vendor::kTitle, found, version, vendor::kTitle, TORCH_FL_SDK_VERSION, vendor::kTitle, found,
              vendor::kTitle, built);
}

flagos_status start() {
  int32_t count = 0;
  if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
  if (count == 0) return FLAGOS_ERROR_NO_DEVICE;
  return check_version();
}

}  // namespace

flagos_status initialize() { return start_once(&start); }

// The driver may start here. Who asks before a fork (torch.flagos.is_available()) should then use devices in the parent only,
// as with CUDA.
flagos_status device_count(int32_t* count) {
  *count = devices.load(std::memory_order_relaxed);
  if (*count > 0) return FLAGOS_SUCCESS;
  int found = 0;
  const auto status = check(runtime::get_device_count(&found), "find a %s device", vendor::kTitle);
  if (status == FLAGOS_ERROR_NO_DEVICE) return FLAGOS_SUCCESS;
  *count = found;
  devices = found;
  return status;
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
