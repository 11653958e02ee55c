// SPDX-License-Identifier: Apache-2.0
#include "guard.h"

#include <atomic>
#include <chrono>

namespace torch_fl::double_ {
namespace {

constexpr c10::StreamId kPool = 32;  // ids 1 to 32 of ordinary streams, 33 to 64 of urgent ones
constexpr int kUrgent = -1;

using Clock = std::chrono::steady_clock;
struct Event {
  bool timed;
  Clock::time_point reached;
};

thread_local c10::StreamId current = 0;

c10::Stream stream(c10::StreamId id) { return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::kCPU), id); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kCPU; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Device getDevice() const override { return c10::kCPU; }
  c10::Device exchangeDevice(c10::Device) const override { return c10::kCPU; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}

  c10::Stream getStream(c10::Device) const override { return stream(current); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(0); }
  c10::Stream getNewStream(c10::Device, int priority) const override {
    static std::atomic<uint64_t> made[2];
    const int urgent = priority < 0;
    return stream(1 + kPool * urgent + static_cast<c10::StreamId>(made[urgent]++ % kPool));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    return getNewStream(device, high_priority ? kUrgent : 0);
  }
  c10::Stream exchangeStream(c10::Stream wanted) const override { return stream(std::exchange(current, wanted.id())); }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}

  void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag flag) const override {
    if (!*event) *event = new Event{flag == c10::EventFlag::BACKEND_DEFAULT, {}};
    static_cast<Event*>(*event)->reached = Clock::now();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    const auto *from = static_cast<Event*>(start), *to = static_cast<Event*>(end);
    TORCH_CHECK(from->timed && to->timed, "both events must be made with enable_timing=True before elapsed_time");
    return std::chrono::duration<double, std::milli>(to->reached - from->reached).count();
  }
};

}  // namespace

const c10::impl::DeviceGuardImplInterface& guard() {
  static const auto* instance = new Guard();
  return *instance;
}

int priority_of(c10::StreamId id) { return id > kPool ? kUrgent : 0; }

}  // namespace torch_fl::double_
