// SPDX-License-Identifier: Apache-2.0
// pinned.h: ordinary memory that is known as pinned while it lives.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace torch_fl::double_ {

at::HostAllocator& pinned();
bool is_pinned(const void* address, void** base, size_t* bytes);

}  // namespace torch_fl::double_
