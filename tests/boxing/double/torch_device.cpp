// SPDX-License-Identifier: Apache-2.0
// The CPU as the device that PyTorch drives: allocator, generators and kernels are its own.
#include <flagos_torch_device.h>

#include <ATen/CPUGeneratorImpl.h>

#include "guard.h"
#include "memory.h"
#include "pinned.h"

namespace torch_fl::double_ {
namespace {

class Cpu final : public TorchDevice {
 public:
  c10::DeviceType type() const override { return c10::kCPU; }
  const c10::impl::DeviceGuardImplInterface& guard() const override { return double_::guard(); }
  c10::Allocator& allocator() const override { return memory(); }
  at::HostAllocator& pinned() const override { return double_::pinned(); }
  at::Generator default_generator(c10::DeviceIndex) const override { return at::detail::getDefaultCPUGenerator(); }
  at::Generator new_generator(c10::DeviceIndex) const override { return at::detail::createCPUGenerator(); }
  void* stream_handle(c10::Stream stream) const override { return reinterpret_cast<void*>(stream.id()); }
  int stream_priority(c10::Stream stream) const override { return priority_of(stream.id()); }
  std::vector<SegmentSnapshot> memory_segments() const override { return live_blocks(); }
};

}  // namespace
}  // namespace torch_fl::double_

extern "C" __attribute__((visibility("default"))) const torch_fl::TorchDevice* flagos_torch_device_entry() {
  static const torch_fl::double_::Cpu cpu;
  return &cpu;
}
