// SPDX-License-Identifier: Apache-2.0
#include "target_guard.h"

#include "device.h"
#include "guard.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

struct TargetGuard final : DeviceGuard {
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index() && is_initialized()) target_guard().uncheckedSetDevice(as_target(device));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    const c10::Device there(kDevice, checked_index(device));
    return as_flagos(target_guard().getStreamFromGlobalPool(as_target(there), high_priority));
  }
  bool queryStream(const c10::Stream& stream) const override { return target_guard().queryStream(as_target(stream)); }
  void synchronizeStream(const c10::Stream& stream) const override { target_guard().synchronizeStream(as_target(stream)); }
  // PyTorch 2.10 and 2.11 do not ask for it yet, so no `override` here.
  bool isStreamCapturing(const c10::Stream& stream) const { return stream_capturing(stream); }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex index,
              const c10::EventFlag flag) const override {
    checked_index(stream.device());
    target_guard().record(event, as_target(stream), index, flag);
  }
  void block(void* event, const c10::Stream& stream) const override { target_guard().block(event, as_target(stream)); }
  bool queryEvent(void* event) const override { return target_guard().queryEvent(event); }
  void synchronizeEvent(void* event) const override { target_guard().synchronizeEvent(event); }
  void destroyEvent(void* event, const c10::DeviceIndex index) const noexcept override {
    if (event && is_initialized()) target_guard().destroyEvent(event, index);
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex index) const override {
    return target_guard().elapsedTime(start, end, index);
  }
};

}  // namespace

c10::impl::DeviceGuardImplInterface* make_target_guard() { return new TargetGuard(); }

}  // namespace torch_fl
