// SPDX-License-Identifier: Apache-2.0
// cache.h: one device's memory, kept for reuse: blocks are freed to their stream and taken again by work on that stream.
//
// Simpler than PyTorch's: a block is a whole segment, it is not split, and only a request of its size takes it.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace emulated_fork {

using Stats = c10::CachingDeviceAllocator::DeviceStats;

struct Block {
  void* address;
  size_t bytes, requested;
  c10::cuda::CUDAStream stream;
  bool allocated = true;
  std::set<c10::StreamId> used_on = {};         // other streams that have used it since it was allocated
  std::vector<cudaEvent_t> waits_for = {};  // recorded there when it was freed

  bool small() const { return bytes <= kSmall; }
  static constexpr size_t kSmall = size_t{1} << 20;
};

class Cache {
 public:
  explicit Cache(c10::DeviceIndex device) : device_(device) {}

  // Throws c10::OutOfMemoryError, after all that is kept has been given back to the device.
  Block* allocate(size_t bytes, c10::cuda::CUDAStream stream);
  void free(Block* block);
  void used_on(Block* block, c10::cuda::CUDAStream stream);
  void give_back();

  size_t largest_free();
  Stats stats();
  void reset_accumulated();
  void reset_peak();
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments();

  double fraction();
  void set_fraction(double fraction);

 private:
  void* from_device(size_t bytes);
  void finish_pending();
  void release(Block* block);
  void release_free();
  [[noreturn]] void out_of_memory(size_t bytes);
  void count(c10::CachingAllocator::StatArray Stats::*field, const Block& block, int64_t amount);
  void count_allocated(const Block& block, int64_t sign);
  void count_active(const Block& block, int64_t sign);
  void count_segment(const Block& block, int64_t sign);

  const c10::DeviceIndex device_;
  std::recursive_mutex mutex_;  // guards everything below; freeing a tensor may happen while one is being made
  std::multimap<std::pair<c10::StreamId, size_t>, Block*> free_;
  std::vector<Block*> pending_;  // freed, and perhaps still in use on other streams
  std::set<Block*> all_;
  Stats stats_;
  double fraction_ = 1;
};

}  // namespace emulated_fork
