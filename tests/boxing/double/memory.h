// SPDX-License-Identifier: Apache-2.0
// memory.h: PyTorch's CPU allocator, with the statistics of one that a card has. It caches nothing.
#pragma once

#include <flagos_torch_device.h>

namespace torch_fl::double_ {

c10::Allocator& memory();
std::vector<SegmentSnapshot> live_blocks();

}  // namespace torch_fl::double_
