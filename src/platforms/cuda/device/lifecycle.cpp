// SPDX-License-Identifier: Apache-2.0
// Start and fork. Neither CUDA nor PyTorch's part for it is touched when this library is loaded, but on first use. On a machine
// without driver or card there are 0 devices, and the reason is stored.

#include <ATen/Context.h>

#include "error.h"
#include "nvml.h"

namespace flagos::cuda {
namespace {

std::atomic<int32_t> devices{0};  // 0: not asked yet, or none

flagos_status ask_cuda(int32_t* count) {
  int found = 0;
  const auto status = check(cudaGetDeviceCount(&found), "cudaGetDeviceCount", "find a CUDA device");
  *count = found;
  devices = found;
  return status;
}

flagos_status start() {
  int32_t count = 0;
  if (const auto status = ask_cuda(&count); status != FLAGOS_SUCCESS) return status;
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

// Before the first use of a device CUDA is asked only where nothing else can tell, since that starts the driver, and a process
// that has done so cannot be forked.
flagos_status device_count(int32_t* count) {
  *count = devices.load(std::memory_order_relaxed);
  if (*count > 0) return FLAGOS_SUCCESS;
  *count = cards_without_cuda();
  if (*count >= 0) return FLAGOS_SUCCESS;
  const auto status = ask_cuda(count);
  return status == FLAGOS_ERROR_NO_DEVICE ? FLAGOS_SUCCESS : status;
}

}  // namespace flagos::cuda
