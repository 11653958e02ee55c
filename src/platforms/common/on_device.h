// SPDX-License-Identifier: Apache-2.0
// The scope in which a device is current, for runtimes that resolve addresses and the null stream against the current device.
#pragma once

#include "contract.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

// The platform's: FLAGOS_SUCCESS for an index that exists, else FLAGOS_ERROR_INVALID_ARGUMENT with the sentence stored.
flagos_status check_device(int32_t device);

// Makes a device current for the calling thread and restores the former one. `status()` says whether that worked.
class OnDevice {
 public:
  explicit OnDevice(int32_t device) : status_(check_device(device)) {
    if (status_ == FLAGOS_SUCCESS) status_ = get_device(&former_);
    if (status_ != FLAGOS_SUCCESS || former_ == device) return;
    status_ = set_device(device);
    changed_ = status_ == FLAGOS_SUCCESS;
  }
  ~OnDevice() {
    if (changed_) set_device(former_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  flagos_status status() const noexcept { return status_; }

 private:
  flagos_status status_;
  int32_t former_ = 0;
  bool changed_ = false;
};

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
