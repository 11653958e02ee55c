// SPDX-License-Identifier: Apache-2.0
// target_pinned.h: page-locked memory for a device that PyTorch drives itself is PyTorch's, so that its copies know it.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace torch_fl {

at::HostAllocator* make_target_pinned_allocator();

}  // namespace torch_fl
