// SPDX-License-Identifier: Apache-2.0
// What PyTorch asks CUDA for, apart from operators and guards.
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "generator.h"
#include "pinned.h"

namespace at {  // the registry's macros name no namespace
namespace {

struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}

  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return hasCUDA(); }
  bool hasCUDA() const override { return c10::cuda::device_count() > 0; }
  bool hasCUDART() const override { return true; }
  bool hasPrimaryContext(DeviceIndex device) const override { return c10::cuda::hasPrimaryContext(device); }
  void init() const override { c10::cuda::device_count_ensure_non_zero(); }

  DeviceIndex deviceCount() const override { return c10::cuda::device_count(); }
  int getNumGPUs() const override { return c10::cuda::device_count(); }
  DeviceIndex current_device() const override { return hasCUDA() ? c10::cuda::current_device() : DeviceIndex(-1); }
  DeviceIndex getCurrentDevice() const override { return c10::cuda::current_device(); }
  void setCurrentDevice(DeviceIndex device) const override { c10::cuda::set_device(device); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override { return c10::cuda::ExchangeDevice(device); }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override { return c10::cuda::MaybeExchangeDevice(device); }
  void deviceSynchronize(DeviceIndex device) const override {
    const c10::DeviceGuard there({kCUDA, device});
    c10::cuda::device_synchronize();
  }
  Device getDeviceFromPtr(void* address) const override {
    cudaPointerAttributes found{};
    C10_CUDA_CHECK(cudaPointerGetAttributes(&found, address));
    TORCH_CHECK(found.type != cudaMemoryTypeUnregistered, "The specified pointer resides on host memory and is not registered "
                "with any CUDA device.");
    return {kCUDA, static_cast<DeviceIndex>(found.device)};
  }

  const Generator& getDefaultGenerator(DeviceIndex device) const override { return emulated_fork::default_generator(device); }
  Generator getNewGenerator(DeviceIndex device) const override { return emulated_fork::new_generator(device); }
  Allocator* getPinnedMemoryAllocator() const override { return &emulated_fork::pinned(); }
  bool isPinnedPtr(const void* address) const override { return emulated_fork::is_pinned(address); }
  Allocator* getCUDADeviceAllocator() const override { return c10::cuda::CUDACachingAllocator::get(); }

  long versionCUDART() const override { return CUDART_VERSION; }
  std::string showConfig() const override { return "  - emulated fork of PyTorch for MetaX MACA\n"; }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace
}  // namespace at

// The real fork's core has functions of its own below at::maca; this one tells the emulated fork from a stock PyTorch.
namespace at::maca {
__attribute__((visibility("default"))) bool emulated() { return true; }
}  // namespace at::maca
