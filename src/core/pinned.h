// SPDX-License-Identifier: Apache-2.0
// pinned.h: page-locked host memory, cached, and held while a stream reads or writes it.
#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "stream.h"

namespace torch_fl {

struct PinnedStats {
  using Stat = c10::CachingAllocator::Stat;
  Stat active_requests, active_bytes;     // what tensors hold, and streams still use
  Stat allocations, allocated_bytes;      // the same and what is cached
  int64_t num_host_alloc = 0, num_host_free = 0;
};

at::HostAllocator& pinned_allocator();  // the core's own, or where PyTorch drives the device itself, PyTorch's
void register_pinned_allocator();  // torch.accelerator finds it there
bool is_pinned(const void* address);

// Keeps the block behind `data` out of the cache until `stream` has passed this point. False for other memory.
bool hold_pinned(const c10::DataPtr& data, c10::Stream stream);

TORCH_FL_API PinnedStats pinned_stats();
TORCH_FL_API void reset_pinned_peaks();
TORCH_FL_API void reset_pinned_totals();
TORCH_FL_API void empty_pinned_cache();

}  // namespace torch_fl
