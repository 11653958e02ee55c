// SPDX-License-Identifier: Apache-2.0
// guard.cpp: what PyTorch's DeviceGuard, Stream and Event classes call.
#include "guard.h"

#include "allocator.h"
#include "cpu_threads.h"
#include "device.h"
#include "stream.h"
#include "target_guard.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Device getDevice() const override { return {kDevice, current_device()}; }
  void setDevice(c10::Device device) const override {
    if (device.has_index()) set_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index() && is_initialized()) platform().set_device(device.index());
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
    return current_stream(checked_index(device));
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return default_stream(checked_index(device)); }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return pool_stream(checked_index(device), priority);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    return pool_stream(checked_index(device), high_priority ? stream_priority_range().second : 0);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  bool queryStream(const c10::Stream& stream) const override { return stream_idle(stream); }
  void synchronizeStream(const c10::Stream& stream) const override { synchronize(stream); }
  // PyTorch 2.10 and 2.11 do not ask for it yet, so no `override` here.
  void* getStreamNativeHandle(const c10::Stream stream) const { return native(stream); }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex index,
              const c10::EventFlag flag) const override {
    TORCH_CHECK(index < 0 || index == stream.device_index(), "flagos: an event of flagos:", static_cast<int>(index),
                " cannot be recorded on a stream of ", stream.device());
    ensure_initialized();
    if (!*event) {
      flagos_event made = nullptr;
      check(platform().event_create(stream.device_index(), flag == c10::EventFlag::BACKEND_DEFAULT, &made), "make an event");
      *event = made;
    }
    check(platform().event_record(static_cast<flagos_event>(*event), stream.device_index(), native(stream)),
          "record an event");
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (!event) return;
    check(platform().stream_wait_event(stream.device_index(), native(stream), static_cast<flagos_event>(event)),
          "make a stream wait for an event");
  }
  bool queryEvent(void* event) const override {
    if (!event) return true;
    const flagos_status status = platform().event_query(static_cast<flagos_event>(event));
    if (status == FLAGOS_ERROR_NOT_READY) return false;
    check(status, "query an event");
    return true;
  }
  void synchronizeEvent(void* event) const override {
    if (event) check(platform().event_synchronize(static_cast<flagos_event>(event)), "wait for an event");
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    if (event && is_initialized()) platform().event_destroy(static_cast<flagos_event>(event));
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    return event_elapsed(start, end);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    allocator().recordStream(data, stream);
  }
};

}  // namespace

c10::DeviceCapability device_capability() {
  c10::DeviceCapability capability;
  auto& types = capability.capability_data.supported_scalar_types;
  types.has_QInt8 = types.has_QUInt8 = types.has_QInt32 = types.has_QUInt4x2 = types.has_QUInt2x4 = 0;
  return capability;
}

double event_elapsed(void* start, void* end) {
  TORCH_CHECK(start && end, "flagos: both events must be recorded before elapsed_time");
  if (torch_device()) return target_guard().elapsedTime(start, end, current_device());
  double milliseconds = 0;
  check(platform().event_elapsed(static_cast<flagos_event>(start), static_cast<flagos_event>(end), &milliseconds),
        "measure the time between two events");
  return milliseconds;
}

void register_guard() {
  static c10::impl::DeviceGuardImplRegistrar registrar(kDevice, torch_device() ? make_target_guard() : new Guard());
}

}  // namespace torch_fl
