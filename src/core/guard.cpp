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

struct PlatformGuard final : DeviceGuard {
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index() && is_initialized()) platform().set_device(device.index());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    return pool_stream(checked_index(device), high_priority ? stream_priority_range().second : 0);
  }
  bool queryStream(const c10::Stream& stream) const override { return stream_idle(stream); }
  void synchronizeStream(const c10::Stream& stream) const override { synchronize(stream); }

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
};

}  // namespace

c10::DeviceType DeviceGuard::type() const { return kDevice; }
c10::DeviceIndex DeviceGuard::deviceCount() const noexcept { return device_count(); }
c10::Device DeviceGuard::getDevice() const { return {kDevice, current_device()}; }
void DeviceGuard::setDevice(c10::Device device) const {
  if (device.has_index()) set_device(device.index());
}
c10::Device DeviceGuard::exchangeDevice(c10::Device device) const { return {kDevice, exchange_device(device.index())}; }
void DeviceGuard::synchronizeDevice(c10::DeviceIndex index) const { synchronize_device(index); }

// All data types but the quantized.
c10::DeviceCapability DeviceGuard::getDeviceCapability(c10::Device device) const {
  checked_index(device);
  c10::DeviceCapability capability;
  auto& types = capability.capability_data.supported_scalar_types;
  types.has_QInt8 = types.has_QUInt8 = types.has_QInt32 = types.has_QUInt4x2 = types.has_QUInt2x4 = 0;
  return capability;
}

// The engine asks for the current stream on the thread that calls backward().
c10::Stream DeviceGuard::getStream(c10::Device device) const {
  note_caller_threads();
  return current_stream(checked_index(device));
}
c10::Stream DeviceGuard::getDefaultStream(c10::Device device) const { return default_stream(checked_index(device)); }
c10::Stream DeviceGuard::getNewStream(c10::Device device, int priority) const {
  return pool_stream(checked_index(device), priority);
}
c10::Stream DeviceGuard::exchangeStream(c10::Stream stream) const { return exchange_stream(stream); }
void* DeviceGuard::getStreamNativeHandle(c10::Stream stream) const { return native(stream); }
void DeviceGuard::recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const {
  allocator().recordStream(data, stream);
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
  static c10::impl::DeviceGuardImplRegistrar registrar(kDevice, torch_device() ? make_target_guard() : new PlatformGuard());
}

}  // namespace torch_fl
