// SPDX-License-Identifier: Apache-2.0
// Devices, and the scope in which one is current. Which one is current is asked of PyTorch's functions for CUDA, since they may
// have put off a change.
#pragma once

#include "error.h"

namespace flagos::cuda {

// FLAGOS_SUCCESS for an index that exists, else FLAGOS_ERROR_INVALID_ARGUMENT with the sentence stored.
flagos_status check_device(int32_t device);

// Makes a device current for the calling thread and restores the former one. `status()` says whether that worked.
class OnDevice {
 public:
  explicit OnDevice(int32_t device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  flagos_status status() const noexcept { return status_; }

 private:
  flagos_status status_;
  int32_t former_ = 0;
  bool changed_ = false;
};

flagos_status get_device(int32_t* device);
flagos_status set_device(int32_t device);
flagos_status device_properties(int32_t device, flagos_device_properties* out);
flagos_status synchronize_device(int32_t device);
flagos_status can_access_peer(int32_t device, int32_t peer, int32_t* yes);

}  // namespace flagos::cuda
