// SPDX-License-Identifier: Apache-2.0
#include "allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/flat_hash_map.h>

#include <memory>
#include <mutex>

#include "target_allocator.h"

namespace torch_fl {
namespace {

DeviceCache& cache(c10::DeviceIndex index) {
  static auto* all = [] {  // outlives every tensor
    auto* made = new std::vector<std::unique_ptr<DeviceCache>>();
    for (int i = 0; i < device_count(); ++i)
      made->push_back(std::make_unique<DeviceCache>(static_cast<c10::DeviceIndex>(i)));
    return made;
  }();
  return *(*all)[static_cast<size_t>(index)];
}

DeviceCache& checked_cache(c10::DeviceIndex index) {
  check_index(index);
  return cache(index);
}

void report(Block* block, int64_t bytes) {
  if (C10_LIKELY(!c10::memoryProfilingEnabled())) return;
  const auto stats = cache(block->device).stats();
  c10::reportMemoryUsageToProfiler(block->address, bytes, static_cast<size_t>(stats.allocated_bytes[0].current),
                                   static_cast<size_t>(stats.reserved_bytes[0].current), {kDevice, block->device});
}

void release_block(void* context) {
  auto* block = static_cast<Block*>(context);
  if (C10_UNLIKELY(in_bad_fork())) return;  // the parent's memory; a child only drops its references
  report(block, -static_cast<int64_t>(block->size));
  cache(block->device).free(block);
}

Block* new_block(size_t bytes, c10::Stream stream) {
  Block* block = cache(stream.device_index()).allocate(bytes, stream.id());
  report(block, static_cast<int64_t>(block->size));
  return block;
}

thread_local const c10::Stream* lending_on = nullptr;

// The blocks lent to the CPU, by host address: a CPU allocator's context must be the address itself, since some kernels
// keep nothing else (Allocator::raw_allocate).
class LentBlocks {
 public:
  void enter(void* address, Block* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    blocks_[address] = block;
  }
  Block* remove(void* address) {  // null for memory that was not lent
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = blocks_.find(address);
    if (found == blocks_.end()) return nullptr;
    Block* block = found->second;
    blocks_.erase(found);
    return block;
  }

 private:
  std::mutex mutex_;
  ska::flat_hash_map<void*, Block*> blocks_;
};

LentBlocks& lent() {
  static auto* instance = new LentBlocks();  // outlives every tensor
  return *instance;
}

void release_lent(void* address) {
  if (in_bad_fork()) return;
  if (Block* block = lent().remove(address)) release_block(block);
}

c10::DeleterFnPtr base_deleter = nullptr;  // of PyTorch's own CPU allocator

// PyTorch's own CPU allocator, except inside DeviceResults.
class LendingAllocator final : public c10::Allocator {
 public:
  // For callers of raw_allocate, who may free in another thread or scope than they allocated in.
  static void release_any(void* address) {
    Block* block = lent().remove(address);
    block ? release_block(block) : base_deleter(address);
  }

  explicit LendingAllocator(c10::Allocator* base) : base_(base) { base_deleter = base->raw_deleter(); }
  c10::DataPtr allocate(size_t bytes) override {
    if (C10_LIKELY(!lending_on)) return base_->allocate(bytes);
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    Block* block = new_block(bytes, *lending_on);
    void* address = host_address(block->address);
    lent().enter(address, block);
    return {address, address, &release_lent, c10::Device(c10::kCPU)};
  }
  bool is_simple_data_ptr(const c10::DataPtr& data) const override { return base_->is_simple_data_ptr(data); }
  c10::DeleterFnPtr raw_deleter() const override { return &release_any; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { base_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* const base_;
};

// The core's own: a cache of blocks for each device.
class CachingAllocator final : public DeviceAllocator {
 public:
  c10::DataPtr allocate_on(size_t bytes, c10::Stream stream) override {
    if (bytes == 0) return {nullptr, stream.device()};
    Block* block = new_block(bytes, stream);
    return {block->address, block, &release_block, stream.device()};
  }
  void emptyCache(c10::MempoolId_t) override {
    if (!is_initialized()) return;
    for (int i = 0; i < device_count(); ++i) cache(static_cast<c10::DeviceIndex>(i)).empty_cache();
  }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    if (data.get_deleter() != &release_block) return;
    auto* block = static_cast<Block*>(data.get_context());
    cache(block->device).record_stream(block, stream.id());
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    return checked_cache(index).stats();
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override { checked_cache(index).reset_accumulated(); }
  void resetPeakStats(c10::DeviceIndex index) override { checked_cache(index).reset_peak(); }
  void set_fraction(c10::DeviceIndex index, double fraction) override { checked_cache(index).set_fraction(fraction); }
  double fraction(c10::DeviceIndex index) override { return checked_cache(index).fraction(); }
  std::vector<SegmentSnapshot> snapshot() override {
    std::vector<SegmentSnapshot> result;
    for (int i = 0; i < device_count(); ++i)
      for (auto& segment : cache(static_cast<c10::DeviceIndex>(i)).snapshot()) result.push_back(std::move(segment));
    return result;
  }
};

}  // namespace

c10::DataPtr DeviceAllocator::allocate(size_t bytes) { return allocate_on(bytes, current_stream(current_device())); }

void DeviceAllocator::copy_data(void* to, const void* from, std::size_t bytes) const {
  const auto stream = current_stream(current_device());
  queue_copy(to, from, bytes, FLAGOS_COPY_DEVICE_TO_DEVICE, stream, "copy device memory");
}

DeviceAllocator& allocator() {
  static DeviceAllocator* instance = torch_device() ? make_target_allocator() : new CachingAllocator();  // outlives every tensor
  return *instance;
}

void register_allocator() {
  c10::SetAllocator(kDevice, &allocator());
  if (platform_has(FLAGOS_CAP_HOST_ALIAS)) {
    constexpr uint8_t above_default = 1;
    c10::SetCPUAllocator(new LendingAllocator(c10::GetCPUAllocator()), above_default);
  }
}

namespace {

// Queued work has a pool of its own beside each stream's, under a negative id.
c10::Stream pool_key(c10::Stream stream, DeviceResults::When when) {
  if (when == DeviceResults::When::at_once) return stream;
  return c10::Stream(c10::Stream::UNSAFE, stream.device(), -1 - stream.id());
}

}  // namespace

DeviceResults::DeviceResults(c10::Stream stream, When when) : former_(lending_on), stream_(pool_key(stream, when)) {
  lending_on = &stream_;
}
DeviceResults::~DeviceResults() { lending_on = former_; }

c10::DataPtr adopt(c10::DataPtr& host) {
  if (host.get_deleter() != &release_lent) return {};
  Block* block = lent().remove(host.release_context());
  return {block->address, block, &release_block, c10::Device(kDevice, block->device)};
}

ptrdiff_t host_offset() {
  static const ptrdiff_t offset = [] {
    ptrdiff_t bytes = 0;
    TORCH_CHECK(platform().host_offset, "flagos: the kernels of platform '", platform().id, "' do not run in host memory");
    check(platform().host_offset(&bytes), "read the offset between device and host addresses");
    return bytes;
  }();
  return offset;
}

}  // namespace torch_fl
