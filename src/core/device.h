// SPDX-License-Identifier: Apache-2.0
// device.h: first use, fork, and which device is current. The platform holds the current device: there is no copy of it.
#pragma once

#include <c10/core/Device.h>

#include <utility>

#include "macros.h"

namespace torch_fl {

constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

// Initialises the platform on the first call. Throws in a process forked after that.
TORCH_FL_API void ensure_initialized();
TORCH_FL_API bool is_initialized() noexcept;
TORCH_FL_API bool in_bad_fork() noexcept;

TORCH_FL_API c10::DeviceIndex device_count() noexcept;  // 0 when no platform is loaded; initialises nothing
TORCH_FL_API c10::DeviceIndex current_device();
TORCH_FL_API void set_device(c10::DeviceIndex index);                  // throws for an index that does not exist
TORCH_FL_API c10::DeviceIndex exchange_device(c10::DeviceIndex index);  // negative: no change; returns the former
// Makes `index` current while it lives.
class OnDevice {
 public:
  explicit OnDevice(c10::DeviceIndex index) : former_(exchange_device(index)), index_(index) {}
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const c10::DeviceIndex former_, index_;
};

c10::DeviceIndex checked_index(c10::Device device);                    // the current device when it has no index
TORCH_FL_API void check_index(c10::DeviceIndex index);
TORCH_FL_API void synchronize_device(c10::DeviceIndex index);
TORCH_FL_API bool can_access_peer(c10::DeviceIndex device, c10::DeviceIndex peer);
TORCH_FL_API std::pair<size_t, size_t> memory_info(c10::DeviceIndex index);  // free and total bytes

}  // namespace torch_fl
