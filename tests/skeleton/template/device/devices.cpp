// SPDX-License-Identifier: Apache-2.0
// Devices: how many, which is current, what they are.
#include <flagos_emulation.h>

#include "runtime.h"

namespace flagos::skeleton {

flagos_status device_count(int32_t* count) {
  *count = 0;
  const auto status = check(skeletonDeviceCount(count), "count the devices");
  return status == FLAGOS_ERROR_NO_DEVICE ? FLAGOS_SUCCESS : status;
}

flagos_status initialize() {
  return start_once([] {
    int32_t count = 0;
    if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
    if (count == 0) return fail(FLAGOS_ERROR_NO_DEVICE, "there is no Skeleton device; look at the driver");
    return synchronize_device(0);  // the runtime starts, or says why it cannot
  });
}

flagos_status get_device(int32_t* device) { return check(skeletonGetDevice(device), "read the current device"); }
flagos_status set_device(int32_t device) { return check(skeletonSetDevice(device), "make a device current"); }
flagos_status synchronize_device(int32_t device) { return check(skeletonSynchronize(device), "finish a device's work"); }

flagos_status device_properties(int32_t device, flagos_device_properties* out) {
  *out = {};
  if (const auto status = check(skeletonDeviceName(device, out->name, sizeof(out->name)), "read a device's name");
      status != FLAGOS_SUCCESS)
    return status;
  size_t free_bytes = 0, total = 0;
  const auto status = memory_info(device, &free_bytes, &total);
  out->total_memory = total;
  out->major = 1;
  out->multi_processor_count = 1;
  out->flags = flagos_emulation_host_offset ? FLAGOS_DEVICE_EMULATED : 0;
  return status;
}

flagos_status can_access_peer(int32_t device, int32_t peer, int32_t* yes) {
  int32_t count = 0;
  *yes = 0;
  if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
  if (device < 0 || peer < 0 || device >= count || peer >= count)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "there are flagos:0 to flagos:%d, not flagos:%d and flagos:%d", count - 1, device, peer);
  *yes = device != peer;
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::skeleton
