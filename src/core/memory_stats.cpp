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

std::vector<c10::CachingDeviceAllocator::SegmentInfo> DeviceCache::snapshot() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> result;
  for (const Segment* segment : segments_) {
    auto& info = result.emplace_back();
    info.device = device_;
    info.address = reinterpret_cast<size_t>(segment->first->address);
    info.total_size = segment->size;
    info.stream = reinterpret_cast<void*>(segment->stream);
    info.is_large = !segment->small;
    for (const Block* block = segment->first; block; block = block->next) {
      auto& part = info.blocks.emplace_back();
      part.size = block->size;
      part.allocated = block->state == Block::State::allocated;
      part.active = part.allocated || block->state == Block::State::pending;
      part.requested_size = part.active ? block->requested : 0;
      if (part.allocated) info.allocated_size += part.size;
      if (part.active) info.active_size += part.size;
      info.requested_size += part.requested_size;
    }
  }
  return result;
}

}  // namespace torch_fl
