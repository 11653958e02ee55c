// SPDX-License-Identifier: Apache-2.0
// memory_stats.cpp: what DeviceCache tells about itself.
#include <c10/util/irange.h>

#include "caching_allocator.h"

namespace torch_fl {
namespace {

using Stats = c10::CachingDeviceAllocator::DeviceStats;

template <typename Function>
void for_each_stat(Stats& stats, Function function) {
  for (auto what : {&Stats::allocation, &Stats::segment, &Stats::active, &Stats::inactive_split, &Stats::allocated_bytes,
                    &Stats::reserved_bytes, &Stats::active_bytes, &Stats::inactive_split_bytes, &Stats::requested_bytes})
    for (auto& stat : stats.*what) function(stat);
  function(stats.oversize_allocations);
  function(stats.oversize_segments);
}

}  // namespace

Stats DeviceCache::stats() {
  std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

void DeviceCache::reset_peak() {
  std::lock_guard<std::mutex> lock(mutex_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_peak(); });
}

void DeviceCache::reset_accumulated() {
  std::lock_guard<std::mutex> lock(mutex_);
  for_each_stat(stats_, [](auto& stat) { stat.reset_accumulated(); });
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = stats_.num_device_free = 0;
}

std::vector<SegmentSnapshot> DeviceCache::snapshot() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<SegmentSnapshot> result;
  for (const Segment* segment : segments_) {
    auto& info = result.emplace_back(SegmentSnapshot{device_, segment->stream,
                                                     reinterpret_cast<size_t>(segment->first->address), segment->size,
                                                     segment->small, 0, 0, 0, {}});
    for (const Block* block = segment->first; block; block = block->next) {
      const bool allocated = block->state == Block::State::allocated;
      const bool active = allocated || block->state == Block::State::pending;
      const size_t requested = active ? block->requested : 0;
      info.blocks.push_back(
          {block->size, requested, allocated ? "active_allocated" : active ? "active_pending_free" : "inactive"});
      if (allocated) info.allocated_size += block->size;
      if (active) info.active_size += block->size;
      info.requested_size += requested;
    }
  }
  return result;
}

}  // namespace torch_fl
