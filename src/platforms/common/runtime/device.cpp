// SPDX-License-Identifier: Apache-2.0
// Devices.
#include <flagos_emulation.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "error.h"
#include "on_device.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

flagos_status check_device(int32_t device) {
  int32_t count = 0;
  if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
  if (device >= 0 && device < count) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "there is no device flagos:%d: %s has flagos:0 to flagos:%d", device,
              vendor::kTitle, count - 1);
}

flagos_status get_device(int32_t* device) {
  int current = 0;
  const auto status = check(runtime::get_device(&current), "read the current device");
  *device = current;
  return status;
}

flagos_status set_device(int32_t device) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  return check(runtime::set_device(device), "make flagos:%d current", device);
}

flagos_status device_properties(int32_t device, flagos_device_properties* out) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  vendor::Properties theirs{};
  if (const auto status = check(runtime::get_properties(&theirs, device), "read the properties of flagos:%d", device);
      status != FLAGOS_SUCCESS)
    return status;
  flagos_device_properties ours{};
  static_assert(sizeof(theirs.uuid) == sizeof(ours.uuid));
  std::snprintf(ours.name, sizeof(ours.name), "%.*s", static_cast<int>(sizeof(ours.name) - 1), theirs.name);
  ours.total_memory = theirs.totalGlobalMem;
  ours.major = theirs.major;
  ours.minor = theirs.minor;
  ours.multi_processor_count = theirs.multiProcessorCount;
  ours.max_threads_per_block = theirs.maxThreadsPerBlock;
  ours.max_threads_per_multi_processor = theirs.maxThreadsPerMultiProcessor;
  ours.shared_memory_per_block = theirs.sharedMemPerBlock;
  // 0 where the driver knows no larger limit that a kernel may ask for.
  ours.shared_memory_per_block_optin = std::max(theirs.sharedMemPerBlock, theirs.sharedMemPerBlockOptin);
  ours.regs_per_multiprocessor = theirs.regsPerMultiprocessor;
  ours.clock_rate_khz = theirs.clockRate;
  ours.l2_cache_size = static_cast<uint64_t>(std::max(0, theirs.l2CacheSize));
  ours.flags = (theirs.integrated ? FLAGOS_DEVICE_INTEGRATED : 0) | (flagos_emulation_host_offset ? FLAGOS_DEVICE_EMULATED : 0);
  std::memcpy(ours.uuid, &theirs.uuid, sizeof(ours.uuid));
  vendor::complete(theirs, &ours);
  *out = ours;
  return FLAGOS_SUCCESS;
}

flagos_status synchronize_device(int32_t device) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(runtime::synchronize_device(), "finish the work of flagos:%d", device);
}

flagos_status can_access_peer(int32_t device, int32_t peer, int32_t* yes) {
  *yes = 0;
  for (int32_t index : {device, peer})
    if (const auto status = check_device(index); status != FLAGOS_SUCCESS) return status;
  if (device == peer) return FLAGOS_SUCCESS;
  int answer = 0;
  const auto status =
      check(runtime::can_access_peer(&answer, device, peer), "find out whether flagos:%d reaches flagos:%d", device, peer);
  *yes = answer;
  return status;
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
