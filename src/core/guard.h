// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "macros.h"

namespace torch_fl {

void register_guard();

// What is the same for every platform: devices, and which stream is current. Events, and work on streams, are the platform's
// (guard.cpp) or of a device that PyTorch drives itself (target_guard.cpp).
struct DeviceGuard : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override;
  c10::DeviceIndex deviceCount() const noexcept override;
  c10::Device getDevice() const override;
  void setDevice(c10::Device device) const override;
  c10::Device exchangeDevice(c10::Device device) const override;
  void synchronizeDevice(c10::DeviceIndex index) const override;
  c10::DeviceCapability getDeviceCapability(c10::Device device) const;  // PyTorch 2.10 may not ask for it yet: no `override`
  c10::Stream getStream(c10::Device device) const override;
  c10::Stream getDefaultStream(c10::Device device) const override;
  c10::Stream getNewStream(c10::Device device, int priority) const override;
  c10::Stream exchangeStream(c10::Stream stream) const override;
  void* getStreamNativeHandle(c10::Stream stream) const;  // PyTorch 2.10 and 2.11 do not ask for it yet
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override;
};

// Milliseconds between two recorded events, given as c10::Event::eventId gives them.
TORCH_FL_API double event_elapsed(void* start, void* end);

}  // namespace torch_fl
