// SPDX-License-Identifier: Apache-2.0
// target.h: whose kernels this library calls. TORCH_FL_TARGET is PyTorch's name of the device type and of its dispatch key: CUDA
// for CUDA and what answers under its name (platform.toml says so), CPU for the double that is tested without a card.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/DispatchKeySet.h>

namespace torch_fl::boxing {

inline constexpr c10::DeviceType kTarget = c10::DeviceType::TORCH_FL_TARGET;
inline constexpr c10::DispatchKey kTargetKey = c10::DispatchKey::TORCH_FL_TARGET;
inline constexpr c10::DispatchKeySet kTargetKeys{kTargetKey};

}  // namespace torch_fl::boxing
