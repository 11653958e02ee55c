// SPDX-License-Identifier: Apache-2.0
#include "lifecycle.h"

#include <ATen/Context.h>
#include <pthread.h>

#include <mutex>

namespace flagos::cuda {
namespace {

std::atomic<bool> forked{false};
std::atomic<int32_t> devices{0};  // 0: not asked yet, or none

void after_fork_in_child() {
  if (ready.exchange(false)) forked = true;
}

}  // namespace

flagos_status not_ready() {
  if (forked)
    return fail(FLAGOS_ERROR_SYSTEM,
                "flagos was initialised before this process was forked and cannot be used in it: use the spawn start "
                "method (torch.multiprocessing.set_start_method('spawn'))");
  return fail(FLAGOS_ERROR_SYSTEM, "the cuda platform is not initialised");
}

flagos_status initialize() {
  static auto* mutex = new std::mutex();
  if (forked) return not_ready();
  const std::lock_guard lock(*mutex);
  if (ready) return FLAGOS_SUCCESS;
  int32_t count = 0;
  if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
  if (count == 0) return FLAGOS_ERROR_NO_DEVICE;  // device_count has stored why
  // Allocator and generators. torch.cuda's Python part has an initialisation of its own, which comes when it is used.
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  pthread_atfork(nullptr, nullptr, &after_fork_in_child);
  ready = true;
  return FLAGOS_SUCCESS;
}

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
