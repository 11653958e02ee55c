// SPDX-License-Identifier: Apache-2.0
#include "target_guard.h"

#include "allocator.h"
#include "cpu_threads.h"
#include "device.h"
#include "guard.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

struct TargetGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Device getDevice() const override { return {kDevice, current_device()}; }
  void setDevice(c10::Device device) const override {
    if (device.has_index()) set_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index() && is_initialized()) target_guard().uncheckedSetDevice(as_target(device));
  }
  c10::Device exchangeDevice(c10::Device device) const override { return {kDevice, exchange_device(device.index())}; }
  void synchronizeDevice(const c10::DeviceIndex index) const override { synchronize_device(index); }

  // PyTorch 2.10 may not ask for it yet, so no `override` here.
  c10::DeviceCapability getDeviceCapability(c10::Device device) const {
    checked_index(device);
    return device_capability();
  }

  // The engine asks for the current stream on the thread that calls backward().
  c10::Stream getStream(c10::Device device) const override {
    note_caller_threads();
    return as_flagos(target_guard().getStream(existing(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return as_flagos(target_guard().getDefaultStream(existing(device)));
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return as_flagos(target_guard().getNewStream(existing(device), priority));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    return as_flagos(target_guard().getStreamFromGlobalPool(existing(device), high_priority));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    checked_index(stream.device());
    return as_flagos(target_guard().exchangeStream(as_target(stream)));
  }
  bool queryStream(const c10::Stream& stream) const override { return target_guard().queryStream(as_target(stream)); }
  void synchronizeStream(const c10::Stream& stream) const override { target_guard().synchronizeStream(as_target(stream)); }
  // PyTorch 2.10 and 2.11 do not ask for the next two yet, so no `override` here.
  void* getStreamNativeHandle(const c10::Stream stream) const { return torch_device()->stream_handle(as_target(stream)); }
  bool isStreamCapturing(const c10::Stream& stream) const { return is_capturing(target_guard(), as_target(stream)); }

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
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    allocator().recordStream(data, stream);
  }

 private:
  static c10::Device existing(c10::Device device) { return as_target(c10::Device(kDevice, checked_index(device))); }

  template <class Guard>
  static bool is_capturing(const Guard& guard, const c10::Stream& stream) {
    if constexpr (requires { guard.isStreamCapturing(stream); }) return guard.isStreamCapturing(stream);
    return false;
  }
};

}  // namespace

c10::impl::DeviceGuardImplInterface* make_target_guard() { return new TargetGuard(); }

}  // namespace torch_fl
