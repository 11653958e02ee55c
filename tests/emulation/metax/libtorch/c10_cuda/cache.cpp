// SPDX-License-Identifier: Apache-2.0
#include "cache.h"

#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>

#include <algorithm>
#include <array>

namespace emulated_fork {
namespace {

using c10::CachingAllocator::format_size;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using Lock = std::lock_guard<std::recursive_mutex>;

constexpr size_t kGranule = 512, kLargeGranule = size_t{2} << 20;

size_t rounded(size_t bytes) {
  const size_t granule = bytes <= Block::kSmall ? kGranule : kLargeGranule;
  return std::max(granule, (bytes + granule - 1) / granule * granule);
}

constexpr std::array<StatArray Stats::*, 9> kArrays = {
    &Stats::allocation,     &Stats::segment,      &Stats::active,       &Stats::inactive_split,      &Stats::allocated_bytes,
    &Stats::reserved_bytes, &Stats::active_bytes, &Stats::requested_bytes, &Stats::inactive_split_bytes};

bool passed(std::vector<cudaEvent_t>& events) {
  while (!events.empty()) {
    const cudaError_t state = cudaEventQuery(events.back());
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    C10_CUDA_CHECK(state);
    C10_CUDA_CHECK(cudaEventDestroy(events.back()));
    events.pop_back();
  }
  return true;
}

}  // namespace

Block* Cache::allocate(size_t bytes, c10::cuda::CUDAStream stream) {
  const Lock lock(mutex_);
  const c10::DeviceGuard there({c10::kCUDA, device_});
  finish_pending();
  const size_t size = rounded(bytes);
  Block* block = nullptr;
  if (const auto kept = free_.find({stream.id(), size}); kept != free_.end()) {
    block = kept->second;
    free_.erase(kept);
    block->allocated = true;
  } else {
    void* address = from_device(size);
    if (!address) out_of_memory(bytes);
    block = *all_.insert(new Block{address, size, bytes, stream}).first;
    count_segment(*block, 1);
  }
  block->requested = bytes;
  count_allocated(*block, 1);
  count_active(*block, 1);
  return block;
}

void* Cache::from_device(size_t bytes) {
  size_t free_bytes = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  const auto reserved = [&] { return static_cast<double>(stats_.reserved_bytes[0].current); };
  for (const bool again : {false, true}) {
    void* address = nullptr;
    const bool allowed = reserved() + static_cast<double>(bytes) <= fraction_ * static_cast<double>(total);
    if (allowed && cudaMalloc(&address, bytes) == cudaSuccess) return address;
    (void)cudaGetLastError();
    if (again) break;
    ++stats_.num_alloc_retries;
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    finish_pending();
    release_free();
  }
  return nullptr;
}

void Cache::out_of_memory(size_t bytes) {
  ++stats_.num_ooms;
  size_t free_bytes = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ", format_size(bytes), ". GPU ",
                   static_cast<int>(device_), " has a total capacity of ", format_size(total), " of which ",
                   format_size(free_bytes), " is free. Of the allocated memory ",
                   format_size(stats_.allocated_bytes[0].current), " is allocated by PyTorch, and ",
                   format_size(stats_.reserved_bytes[0].current - stats_.allocated_bytes[0].current),
                   " is reserved by PyTorch but unallocated.");
}

void Cache::free(Block* block) {
  const Lock lock(mutex_);
  const c10::DeviceGuard there({c10::kCUDA, device_});
  block->allocated = false;
  count_allocated(*block, -1);
  for (const c10::StreamId id : block->used_on) {
    const c10::cuda::CUDAStream stream(c10::Stream(c10::Stream::UNSAFE, {c10::kCUDA, device_}, id));
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&block->waits_for.emplace_back(), cudaEventDisableTiming));
    C10_CUDA_CHECK(cudaEventRecord(block->waits_for.back(), stream));
  }
  block->used_on.clear();
  pending_.push_back(block);
  finish_pending();
}

void Cache::finish_pending() {
  std::erase_if(pending_, [&](Block* block) {
    if (!passed(block->waits_for)) return false;
    count_active(*block, -1);
    free_.insert({{block->stream.id(), block->bytes}, block});
    return true;
  });
}

void Cache::used_on(Block* block, c10::cuda::CUDAStream stream) {
  const Lock lock(mutex_);
  if (stream != block->stream) block->used_on.insert(stream.id());
}

void Cache::give_back() {
  const Lock lock(mutex_);
  const c10::DeviceGuard there({c10::kCUDA, device_});
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  finish_pending();
  release_free();
}

void Cache::release_free() {
  for (const auto& [key, block] : free_) release(block);
  free_.clear();
}

void Cache::release(Block* block) {
  C10_CUDA_CHECK(cudaFree(block->address));
  count_segment(*block, -1);
  all_.erase(block);
  delete block;
}

size_t Cache::largest_free() {
  const Lock lock(mutex_);
  size_t largest = 0;
  for (const auto& [key, block] : free_) largest = std::max(largest, block->bytes);
  return largest;
}

Stats Cache::stats() {
  const Lock lock(mutex_);
  return stats_;
}

void Cache::reset_accumulated() {
  const Lock lock(mutex_);
  for (const auto field : kArrays)
    for (auto& stat : stats_.*field) stat.reset_accumulated();
  stats_.num_alloc_retries = stats_.num_ooms = stats_.num_device_alloc = stats_.num_device_free = 0;
}

void Cache::reset_peak() {
  const Lock lock(mutex_);
  for (const auto field : kArrays)
    for (auto& stat : stats_.*field) stat.reset_peak();
}

std::vector<c10::CachingDeviceAllocator::SegmentInfo> Cache::segments() {
  const Lock lock(mutex_);
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> result;
  for (const Block* block : all_) {
    const bool active = block->allocated || !block->waits_for.empty();
    auto& segment = result.emplace_back();
    segment.device = device_;
    segment.address = reinterpret_cast<size_t>(block->address);
    segment.total_size = block->bytes;
    segment.requested_size = active ? block->requested : 0;
    segment.allocated_size = block->allocated ? block->bytes : 0;
    segment.active_size = active ? block->bytes : 0;
    segment.stream = block->stream.stream();
    segment.is_large = !block->small();
    segment.blocks.push_back({block->bytes, segment.requested_size, 0, block->allocated, active, nullptr});
  }
  return result;
}

double Cache::fraction() {
  const Lock lock(mutex_);
  return fraction_;
}
void Cache::set_fraction(double fraction) {
  TORCH_CHECK(0 <= fraction && fraction <= 1, "invalid fraction:", fraction, ". Please set within [0, 1].");
  const Lock lock(mutex_);
  fraction_ = fraction;
}

void Cache::count(StatArray Stats::*field, const Block& block, int64_t amount) {
  for (const auto type : {StatType::AGGREGATE, block.small() ? StatType::SMALL_POOL : StatType::LARGE_POOL}) {
    auto& stat = (stats_.*field)[static_cast<size_t>(type)];
    amount < 0 ? stat.decrease(static_cast<size_t>(-amount)) : stat.increase(static_cast<size_t>(amount));
  }
}
void Cache::count_allocated(const Block& block, int64_t sign) {
  count(&Stats::allocation, block, sign);
  count(&Stats::allocated_bytes, block, sign * static_cast<int64_t>(block.bytes));
  count(&Stats::requested_bytes, block, sign * static_cast<int64_t>(block.requested));
}
void Cache::count_active(const Block& block, int64_t sign) {
  count(&Stats::active, block, sign);
  count(&Stats::active_bytes, block, sign * static_cast<int64_t>(block.bytes));
}
void Cache::count_segment(const Block& block, int64_t sign) {
  count(&Stats::segment, block, sign);
  count(&Stats::reserved_bytes, block, sign * static_cast<int64_t>(block.bytes));
  ++(sign > 0 ? stats_.num_device_alloc : stats_.num_device_free);
}

}  // namespace emulated_fork
