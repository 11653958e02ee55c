// SPDX-License-Identifier: Apache-2.0
// CUDA, or a vendor's devices under its name in the vendor's PyTorch, as the device that PyTorch drives itself: allocator,
// streams, events, generators and pinned memory are PyTorch's own.
#include <flagos_torch_device.h>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace {

namespace memory = c10::cuda::CUDACachingAllocator;

const char* state_of(bool allocated, bool active) {
  return allocated ? "active_allocated" : active ? "active_pending_free" : "inactive";
}

class Cuda final : public torch_fl::TorchDevice {
 public:
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  const c10::impl::DeviceGuardImplInterface& guard() const override {
    return *c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA);
  }
  c10::Allocator& allocator() const override { return *memory::get(); }
  at::HostAllocator& pinned() const override { return *at::getHostAllocator(c10::DeviceType::CUDA); }
  at::Generator default_generator(c10::DeviceIndex index) const override { return hooks().getDefaultGenerator(index); }
  at::Generator new_generator(c10::DeviceIndex index) const override { return hooks().getNewGenerator(index); }

  void* stream_handle(c10::Stream stream) const override { return c10::cuda::CUDAStream(stream).stream(); }
  int stream_priority(c10::Stream stream) const override { return c10::cuda::CUDAStream(stream).priority(); }
  bool stream_capturing(c10::Stream stream) const override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamIsCapturing(c10::cuda::CUDAStream(stream).stream(), &status));
    return status != cudaStreamCaptureStatusNone;
  }

  double memory_fraction(c10::DeviceIndex index) const override { return memory::getMemoryFraction(index); }
  void set_memory_fraction(c10::DeviceIndex index, double fraction) const override {
    memory::setMemoryFraction(fraction, index);
  }
  std::vector<torch_fl::SegmentSnapshot> memory_segments() const override {
    std::vector<torch_fl::SegmentSnapshot> result;
    for (const auto& segment : memory::snapshot().segments) {
      auto& info = result.emplace_back(torch_fl::SegmentSnapshot{
          segment.device, static_cast<c10::StreamId>(reinterpret_cast<intptr_t>(segment.stream)), segment.address,
          segment.total_size, !segment.is_large, segment.allocated_size, segment.active_size, segment.requested_size, {}});
      for (const auto& block : segment.blocks)
        info.blocks.push_back({block.size, block.requested_size, state_of(block.allocated, block.active)});
    }
    return result;
  }

 private:
  // Not Context::defaultGenerator, which initialises CUDA: a seed may come before the first use.
  static const at::AcceleratorHooksInterface& hooks() {
    return at::globalContext().getAcceleratorHooksInterface(c10::DeviceType::CUDA);
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const torch_fl::TorchDevice* flagos_torch_device_entry() {
  static const auto* cuda = new Cuda();
  return cuda;
}
