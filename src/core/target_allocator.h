// SPDX-License-Identifier: Apache-2.0
// target_allocator.h: the memory of a device that PyTorch drives itself comes from PyTorch's allocator for it.
#pragma once

#include "allocator.h"
#include "torch_device.h"

namespace torch_fl {

DeviceAllocator* make_target_allocator();

}  // namespace torch_fl
