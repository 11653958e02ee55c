// SPDX-License-Identifier: Apache-2.0
// c10::cuda::CUDACachingAllocator over a cache for each device. What needs graphs or memory pools is refused.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/impl/CUDAGuardImpl.h>

#include <deque>
#include <mutex>
#include <unordered_map>

#include "cache.h"

namespace c10 {
C10_DEFINE_REGISTRY(FreeCudaMemoryCallbacksRegistry, FreeMemoryCallback);
}  // namespace c10

namespace emulated_fork {
namespace {

using namespace c10::cuda::CUDACachingAllocator;
using c10::DeviceIndex;
using c10::MempoolId_t;
using c10::cuda::CUDAStream;

#define NOT_EMULATED(what) \
  TORCH_CHECK_NOT_IMPLEMENTED(false, "the emulated fork of PyTorch has no ", what, "; use a card for what needs them")

void release(void* address);

class Allocator final : public CUDAAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const DeviceIndex device = c10::cuda::current_device();
    void* address = bytes ? take(bytes, c10::cuda::getCurrentCUDAStream(device)) : nullptr;
    return {address, address, &release, c10::Device(c10::kCUDA, device)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    C10_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, c10::cuda::getCurrentCUDAStream()));
  }
  void* raw_alloc(size_t bytes) override { return bytes ? take(bytes, c10::cuda::getCurrentCUDAStream()) : nullptr; }
  void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream) override {
    return bytes ? take(bytes, c10::cuda::getStreamFromExternal(stream, c10::cuda::current_device())) : nullptr;
  }
  void raw_delete(void* address) override {
    if (!address) return;
    const auto [device, block] = taken_out(address);
    cache(device).free(block);
  }

  void init(int) override {}
  bool initialized() override { return true; }
  void enable(bool) override {}
  bool isEnabled() const override { return true; }
  std::string name() override { return "native"; }

  double getMemoryFraction(DeviceIndex device) override { return cache(device).fraction(); }
  void setMemoryFraction(double fraction, DeviceIndex device) override { cache(device).set_fraction(fraction); }
  void emptyCache(MempoolId_t) override {
    for (DeviceIndex device = 0; device < c10::cuda::device_count(); ++device) cache(device).give_back();
  }
  void cacheInfo(DeviceIndex device, size_t* largest) override { *largest = cache(device).largest_free(); }
  void* getBaseAllocation(void* address, size_t* size) override {
    const std::lock_guard lock(mutex_);
    if (size) *size = blocks_.at(address).second->bytes;
    return address;
  }
  void recordStream(const c10::DataPtr& data, CUDAStream stream) override {
    if (!data.get() || data.get_deleter() != &release) return;  // memory of somebody else, or none
    const std::lock_guard lock(mutex_);
    const auto& [device, block] = blocks_.at(data.get_context());
    cache(device).used_on(block, stream);
  }

  Stats getDeviceStats(DeviceIndex device) override { return cache(device).stats(); }
  void resetAccumulatedStats(DeviceIndex device) override { cache(device).reset_accumulated(); }
  void resetPeakStats(DeviceIndex device) override { cache(device).reset_peak(); }
  SnapshotInfo snapshot(MempoolId_t, bool) override {
    SnapshotInfo result{};
    for (DeviceIndex device = 0; device < c10::cuda::device_count(); ++device)
      for (auto& segment : cache(device).segments()) result.segments.push_back(std::move(segment));
    return result;
  }

  void enablePeerAccess(DeviceIndex from, DeviceIndex to) override {
    const c10::DeviceGuard there({c10::kCUDA, from});
    const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
    if (error != cudaErrorPeerAccessAlreadyEnabled) C10_CUDA_CHECK(error);
  }
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream,
                          bool p2p_enabled) override {
    if (p2p_enabled || to_device == from_device) return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }

  std::vector<StreamSegmentSize> getExpandableSegmentSizes(DeviceIndex) override { return {}; }
  void beginAllocateToPool(DeviceIndex, MempoolId_t, std::function<bool(cudaStream_t)>) override { NOT_EMULATED("memory pools"); }
  void endAllocateToPool(DeviceIndex, MempoolId_t) override { NOT_EMULATED("memory pools"); }
  void releasePool(DeviceIndex, MempoolId_t) override { NOT_EMULATED("memory pools"); }
  std::shared_ptr<AllocatorState> getCheckpointState(DeviceIndex, MempoolId_t) override { NOT_EMULATED("memory pools"); }
  CheckpointDelta setCheckpointPoolState(DeviceIndex, std::shared_ptr<AllocatorState>) override { NOT_EMULATED("memory pools"); }
  ShareableHandle shareIpcHandle(void*) override { NOT_EMULATED("handles for other processes"); }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { NOT_EMULATED("handles for other processes"); }
  bool isHistoryEnabled() override { return false; }
  void recordHistory(bool enabled, CreateContextFn, size_t, RecordContext, bool, const std::vector<std::string>&) override {
    if (enabled) NOT_EMULATED("records of past allocations");
  }
  void attachOutOfMemoryObserver(OutOfMemoryObserver) override {}
  void attachOomRejectionObserver(OomRejectionObserver) override {}
  void attachAllocatorTraceTracker(AllocatorTraceTracker) override {}

 private:
  Cache& cache(DeviceIndex device) {
    std::call_once(made_, [&] {
      for (DeviceIndex index = 0; index < c10::cuda::device_count_ensure_non_zero(); ++index) caches_.emplace_back(index);
    });
    TORCH_CHECK(device >= 0 && static_cast<size_t>(device) < caches_.size(), "Invalid device argument ",
                static_cast<int>(device), ": did you call init?");
    return caches_[device];
  }
  void* take(size_t bytes, CUDAStream stream) {
    Block* block = cache(stream.device_index()).allocate(bytes, stream);
    const std::lock_guard lock(mutex_);
    blocks_[block->address] = {stream.device_index(), block};
    return block->address;
  }
  std::pair<DeviceIndex, Block*> taken_out(void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    TORCH_CHECK(found != blocks_.end(), "invalid device pointer: ", address);
    const auto result = found->second;
    blocks_.erase(found);
    return result;
  }

  std::once_flag made_;
  std::deque<Cache> caches_;  // one a device; they do not move
  std::mutex mutex_;
  std::unordered_map<void*, std::pair<DeviceIndex, Block*>> blocks_;  // what is allocated; guarded by mutex_
};

Allocator& instance() {
  static auto* made = new Allocator();  // outlives every tensor
  return *made;
}

void release(void* address) { instance().raw_delete(address); }

}  // namespace
}  // namespace emulated_fork

namespace c10::cuda::CUDACachingAllocator {
std::atomic<CUDAAllocator*> allocator{&emulated_fork::instance()};
}  // namespace c10::cuda::CUDACachingAllocator

namespace c10::cuda::impl {
REGISTER_ALLOCATOR(c10::kCUDA, &emulated_fork::instance())
C10_REGISTER_GUARD_IMPL(CUDA, CUDAGuardImpl)
}  // namespace c10::cuda::impl
