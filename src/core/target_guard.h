// SPDX-License-Identifier: Apache-2.0
// target_guard.h: devices, streams and events of a device that PyTorch drives itself are PyTorch's, under our device type.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torch_fl {

c10::impl::DeviceGuardImplInterface* make_target_guard();

}  // namespace torch_fl
