// SPDX-License-Identifier: Apache-2.0
// torch_device.h: the device type that the installed PyTorch drives itself, where the platform stands for one, in the core.
// What each of the core's parts then is: target_allocator.h, target_guard.h, target_generator.h, target_pinned.h, target_copy.h.
#pragma once

#include <flagos_target.h>

#include "device.h"

namespace torch_fl {

void find_torch_device();  // once, after the platform is loaded

// The target's guard implementation, which drives devices, streams and events.
inline const c10::impl::DeviceGuardImplInterface& target_guard() { return torch_device()->guard(); }

inline c10::Device as_target(c10::Device flagos) { return as_target(flagos, torch_device()->type()); }
inline c10::Stream as_target(c10::Stream flagos) { return as_target(flagos, torch_device()->type()); }
inline at::Tensor as_target(const at::Tensor& flagos) { return as_target(flagos, torch_device()->type()); }

// Whether the work of a flagos stream goes into a graph; never where PyTorch does not drive the devices.
inline bool stream_capturing(c10::Stream flagos) {
  return torch_device() && is_initialized() && torch_device()->stream_capturing(as_target(flagos));
}

}  // namespace torch_fl
