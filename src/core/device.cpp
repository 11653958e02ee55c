// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>
#include <mutex>

#include "platform.h"
#include "target_generator.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

enum class State { fresh, ready, forked };
std::atomic<State> state{State::fresh};
std::mutex first_use;

void in_child_after_fork() {
  if (state.load() == State::ready) state.store(State::forked);
}

void initialize() {
  TORCH_CHECK(state.load() != State::forked,
              "Cannot re-initialize flagos in forked subprocess. To use flagos with multiprocessing, you must use the "
              "'spawn' start method");
  std::lock_guard<std::mutex> lock(first_use);
  if (state.load() == State::ready) return;
  check(platform().initialize(), "initialise the device");
  if (torch_device()) seed_target_generators();
  pthread_atfork(nullptr, nullptr, in_child_after_fork);
  state.store(State::ready);
}

}  // namespace

void ensure_initialized() {
  if (C10_UNLIKELY(state.load(std::memory_order_acquire) != State::ready)) initialize();
}

bool is_initialized() noexcept { return state.load() == State::ready; }
bool in_bad_fork() noexcept { return state.load() == State::forked; }

c10::DeviceIndex device_count() noexcept {
  int32_t count = 0;
  if (!platform_loaded() || platform().device_count(&count) != FLAGOS_SUCCESS) return 0;
  return static_cast<c10::DeviceIndex>(count);
}

c10::DeviceIndex current_device() {
  ensure_initialized();
  if (torch_device()) return as_flagos(target_guard().getDevice()).index();  // it may have put off a change
  int32_t device = 0;
  check(platform().get_device(&device), "read the current device");
  return static_cast<c10::DeviceIndex>(device);
}

void check_index(c10::DeviceIndex index) {
  const int count = device_count();
  if (C10_LIKELY(index >= 0 && index < count)) return;
  platform();  // says so first when nothing is loaded
  TORCH_CHECK(false, "flagos:", static_cast<int>(index), " does not exist: there ", count == 1 ? "is 1 device" : "are ",
              count == 1 ? "" : std::to_string(count) + " devices", count == 0 ? "" : ", flagos:0",
              count > 1 ? " to flagos:" + std::to_string(count - 1) : "");
}

void set_device(c10::DeviceIndex index) {
  check_index(index);
  ensure_initialized();
  if (torch_device()) return target_guard().setDevice(as_target({kDevice, index}));
  check(platform().set_device(index), "change the current device");
}

c10::DeviceIndex exchange_device(c10::DeviceIndex index) {
  const c10::DeviceIndex former = current_device();
  if (index >= 0 && index != former) set_device(index);
  return former;
}

OnDevice::~OnDevice() {
  if (former_ == index_) return;
  if (torch_device())
    target_guard().uncheckedSetDevice(as_target({kDevice, former_}));
  else
    platform().set_device(former_);
}

c10::DeviceIndex checked_index(c10::Device device) {
  if (!device.has_index()) return current_device();
  check_index(device.index());
  ensure_initialized();
  return device.index();
}

void synchronize_device(c10::DeviceIndex index) {
  ensure_initialized();
  check_index(index);
  check(platform().synchronize_device(index), "synchronise the device");
}

bool can_access_peer(c10::DeviceIndex device, c10::DeviceIndex peer) {
  check_index(device);
  check_index(peer);
  ensure_initialized();
  int32_t yes = 0;
  check(platform().can_access_peer(device, peer, &yes), "ask for peer access");
  return yes != 0;
}

std::pair<size_t, size_t> memory_info(c10::DeviceIndex index) {
  check_index(index);
  ensure_initialized();
  size_t free_bytes = 0, total = 0;
  check(platform().memory_info(index, &free_bytes, &total), "read the device's memory");
  return {free_bytes, total};
}

}  // namespace torch_fl
