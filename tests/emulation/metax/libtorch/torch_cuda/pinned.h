// SPDX-License-Identifier: Apache-2.0
// pinned.h: page-locked host memory, cached by PyTorch's own template.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace emulated_fork {

at::HostAllocator& pinned();
bool is_pinned(const void* address);

}  // namespace emulated_fork
