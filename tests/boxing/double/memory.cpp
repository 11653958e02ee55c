// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <map>
#include <mutex>

namespace torch_fl::double_ {
namespace {

using Stats = c10::CachingDeviceAllocator::DeviceStats;

class Memory final : public c10::DeviceAllocator {
 public:
  struct Block {
    c10::DataPtr memory;
    size_t bytes;
  };

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    auto* block = new Block{c10::GetCPUAllocator()->allocate(bytes), bytes};
    const std::lock_guard lock(mutex_);
    for (auto* stats : counts()) (*stats)[0].increase(1);
    for (auto* stats : sums()) (*stats)[0].increase(bytes);
    blocks_[block] = bytes;
    return {block->memory.get(), block, &release, c10::Device(c10::kCPU)};
  }
  void forget(Block* block) {
    const std::lock_guard lock(mutex_);
    for (auto* stats : counts()) (*stats)[0].decrease(1);
    for (auto* stats : sums()) (*stats)[0].decrease(block->bytes);
    blocks_.erase(block);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  Stats getDeviceStats(c10::DeviceIndex) override {
    const std::lock_guard lock(mutex_);
    return stats_;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {
    const std::lock_guard lock(mutex_);
    for (auto* stats : counts()) (*stats)[0].reset_accumulated();
    for (auto* stats : sums()) (*stats)[0].reset_accumulated();
  }
  void resetPeakStats(c10::DeviceIndex) override {
    const std::lock_guard lock(mutex_);
    for (auto* stats : counts()) (*stats)[0].reset_peak();
    for (auto* stats : sums()) (*stats)[0].reset_peak();
  }

  std::vector<SegmentSnapshot> segments() {
    const std::lock_guard lock(mutex_);
    std::vector<SegmentSnapshot> result;
    for (const auto& [block, bytes] : blocks_)
      result.push_back({0, 0, reinterpret_cast<size_t>(block->memory.get()), bytes, false, bytes, bytes, bytes,
                        {{bytes, bytes, "active_allocated"}}});
    return result;
  }

 private:
  static void release(void* block);
  std::array<c10::CachingAllocator::StatArray*, 3> counts() { return {&stats_.allocation, &stats_.segment, &stats_.active}; }
  std::array<c10::CachingAllocator::StatArray*, 4> sums() {
    return {&stats_.allocated_bytes, &stats_.reserved_bytes, &stats_.active_bytes, &stats_.requested_bytes};
  }

  std::mutex mutex_;
  Stats stats_;
  std::map<Block*, size_t> blocks_;
};

Memory& instance() {
  static auto* made = new Memory();  // outlives every tensor
  return *made;
}

void Memory::release(void* context) {
  auto* block = static_cast<Block*>(context);
  instance().forget(block);
  delete block;
}

}  // namespace

c10::Allocator& memory() { return instance(); }
std::vector<SegmentSnapshot> live_blocks() { return instance().segments(); }

}  // namespace torch_fl::double_
