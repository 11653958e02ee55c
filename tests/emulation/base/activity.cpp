// SPDX-License-Identifier: Apache-2.0
#include "activity.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "current_device.h"
#include "settings.h"

namespace emulation {
namespace {

namespace host = flagos::host;

std::atomic<bool> watching{false};
std::atomic<uint64_t> last_correlation{0};
std::array<std::atomic<bool>, host::kMostDevices> broken_devices{};

struct Observer {
  std::shared_mutex mutex;  // shared by who tells, so that nobody is being told once it has been taken alone
  flagos_emulation_v1_observer function = nullptr;
  void* context = nullptr;
};
Observer& observer() {
  static auto* instance = new Observer();
  return *instance;
}

// Of the outermost call that the thread is in; 0 outside or unobserved.
thread_local constinit uint64_t current_correlation = 0;
thread_local constinit int call_depth = 0;

uint64_t now() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

void tell(const Activity& activity) {
  auto& [mutex, function, context] = observer();
  const std::shared_lock lock(mutex);
  if (function) function(context, &activity);
}

struct Work {
  Activity what;
  std::string name;
  std::function<flagos_host_result()> function;
};

flagos_host_result perform(void* argument) {
  const std::unique_ptr<Work> work(static_cast<Work*>(argument));
  work->what.start = observed() ? now() : 0;
  const flagos_host_result result = work->function();
  if (observed() && work->what.start) {
    work->what.end = now();
    work->what.name = work->name.c_str();
    tell(work->what);
  }
  return result;
}

}  // namespace

bool observed() noexcept { return watching.load(std::memory_order_relaxed); }

CallScope::CallScope(const char* name, flagos_emulation_v1_kind kind) : name_(nullptr), kind_(kind) {
  if (call_depth++ > 0 || !observed()) return;
  name_ = name;
  current_correlation = ++last_correlation;
  start_ = now();
}

CallScope::~CallScope() {
  --call_depth;
  if (!name_) return;
  Activity activity{};
  activity.kind = kind_;
  activity.name = name_;
  activity.start = start_;
  activity.end = now();
  activity.correlation = std::exchange(current_correlation, 0);
  activity.device = host::current_device;
  activity.thread = static_cast<uint32_t>(gettid());
  activity.value = status_;
  tell(activity);
}

void submit(const StreamInfo& stream, const Activity& what, std::function<flagos_host_result()> function) {
  auto work = std::make_unique<Work>(what, what.name ? what.name : "", std::move(function));
  work->what.device = stream.device;
  work->what.stream = stream.number;
  work->what.correlation = current_correlation;
  ordered(stream).submit(host::Call{&perform, work.release()});
}

bool broken(int32_t device) noexcept { return broken_devices[device].load(std::memory_order_acquire); }
void break_device(int32_t device) noexcept { broken_devices[device].store(true, std::memory_order_release); }

}  // namespace emulation

extern "C" void flagos_emulation_v1_observe(flagos_emulation_v1_observer function, void* context) {
  auto& observer = emulation::observer();
  const std::lock_guard lock(observer.mutex);
  observer.function = function;
  observer.context = context;
  emulation::watching = function != nullptr;
}
