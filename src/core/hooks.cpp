// SPDX-License-Identifier: Apache-2.0
// hooks.cpp: what PyTorch asks an accelerator for, apart from operators and guards.
#include "hooks.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "device.h"
#include "generator.h"
#include "pinned.h"
#include "platform.h"
#include "resize.h"

namespace torch_fl {
namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return is_initialized(); }
  void init() const override { ensure_initialized(); }

  c10::DeviceIndex deviceCount() const override { return device_count(); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex index) const override { set_device(index); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override { return exchange_device(index); }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override { return exchange_device(index); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override { return default_generator(index); }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override { return new_generator(index); }

  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  at::Device getDeviceFromPtr(void* address) const override {
    ensure_initialized();
    flagos_pointer_info info{};
    check(platform().pointer_info(address, &info), "look up an address");
    TORCH_CHECK(info.kind == FLAGOS_MEMORY_DEVICE, "flagos: ", address, " is not an address of a flagos device");
    return {kDevice, static_cast<c10::DeviceIndex>(info.device)};
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override { resize_storage(storage, bytes); }
};

}  // namespace

void register_hooks() { at::RegisterPrivateUse1HooksInterface(new Hooks()); }

}  // namespace torch_fl
