// SPDX-License-Identifier: Apache-2.0
#include "target_allocator.h"

namespace torch_fl {
namespace {

// Streams have one current stream a device; PyTorch's allocators take memory on that.
class OnStream {
 public:
  explicit OnStream(c10::Stream stream) : stream_(stream), former_(exchange_stream(stream)) {}
  ~OnStream() {
    if (former_ != stream_) exchange_stream(former_);
  }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  const c10::Stream stream_, former_;
};

c10::DataPtr taken(c10::Allocator& theirs, size_t bytes) {
  try {
    return theirs.allocate(bytes);
  } catch (const c10::OutOfMemoryError&) {
    rethrow_in_flagos_words();
  }
}

class TargetAllocator final : public DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    ensure_initialized();
    c10::Allocator& theirs = torch_device()->allocator();
    return hold(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t{}, static_cast<int64_t>(bytes),
                                                      taken(theirs, bytes), &theirs, /*resizable=*/true));
  }
  c10::DataPtr allocate_on(size_t bytes, c10::Stream stream) override {
    const OnDevice there(stream.device_index());
    const OnStream on_it(stream);
    return allocate(bytes);
  }
  bool initialized() override { return is_initialized(); }
  void emptyCache(c10::MempoolId_t pool) override {
    if (auto* theirs = is_initialized() ? caching() : nullptr) theirs->emptyCache(pool);
  }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    auto* theirs = caching();
    if (!theirs || data.get_deleter() != &release_held) return;
    theirs->recordStream(static_cast<c10::StorageImpl*>(data.get_context())->data_ptr(), as_target(stream));
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    check_index(index);
    auto* theirs = is_initialized() ? caching() : nullptr;
    return theirs ? theirs->getDeviceStats(index) : c10::CachingDeviceAllocator::DeviceStats();
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override {
    check_index(index);
    if (auto* theirs = is_initialized() ? caching() : nullptr) theirs->resetAccumulatedStats(index);
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    check_index(index);
    if (auto* theirs = is_initialized() ? caching() : nullptr) theirs->resetPeakStats(index);
  }
  void set_fraction(c10::DeviceIndex index, double fraction) override {
    check_index(index);
    ensure_initialized();
    torch_device()->set_memory_fraction(index, fraction);
  }
  double fraction(c10::DeviceIndex index) override {
    check_index(index);
    ensure_initialized();
    return torch_device()->memory_fraction(index);
  }
  std::vector<SegmentSnapshot> snapshot() override {
    return is_initialized() ? torch_device()->memory_segments() : std::vector<SegmentSnapshot>();
  }

 private:
  // Null where the target's allocator keeps nothing.
  static c10::DeviceAllocator* caching() { return dynamic_cast<c10::DeviceAllocator*>(&torch_device()->allocator()); }
};

}  // namespace

DeviceAllocator* make_target_allocator() { return new TargetAllocator(); }

}  // namespace torch_fl
