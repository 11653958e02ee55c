// SPDX-License-Identifier: Apache-2.0
// Start and fork. Neither CUDA nor PyTorch's part for it is touched when this library is loaded, but on first use. On a machine
// without driver or card there are 0 devices, and the reason is stored.

#include <ATen/Context.h>

#include "error.h"

namespace flagos::cuda {
namespace {

std::atomic<int32_t> devices{0};  // 0: not asked yet, or none

flagos_status start() {
  int32_t count = 0;
  if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
  if (count == 0) return FLAGOS_ERROR_NO_DEVICE;  // device_count has stored why
  try {
    // Allocator and peers. torch.cuda's Python part has an initialisation of its own, which comes when it is used.
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    return FLAGOS_SUCCESS;
  } catch (const c10::Error& error) {
    return fail(FLAGOS_ERROR_SYSTEM, "PyTorch cannot use CUDA: %s", error.what_without_backtrace());
  }
}

}  // namespace

flagos_status initialize() { return start_once(&start); }

// The driver may start here. Who asks before a fork (torch.flagos.is_available()) should then use devices in the parent only.
flagos_status device_count(int32_t* count) {
  *count = devices.load(std::memory_order_relaxed);
  if (*count > 0) return FLAGOS_SUCCESS;
  int found = 0;
  const auto status = check(cudaGetDeviceCount(&found), "cudaGetDeviceCount", "find a CUDA device");
  if (status == FLAGOS_ERROR_NO_DEVICE) return FLAGOS_SUCCESS;
  *count = found;
  devices = found;
  return status;
}

}  // namespace flagos::cuda
