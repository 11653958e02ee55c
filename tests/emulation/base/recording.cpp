// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "streams.h"

namespace emulation {
inline namespace v1 {
namespace {

std::atomic<Recorder*> current{nullptr};
std::atomic<uint32_t> numbers{0};
thread_local uint32_t innermost = 0;  // the number of the recorded call that this thread is in; 0: none

uint64_t this_thread() {
  thread_local const auto id = static_cast<uint64_t>(syscall(SYS_gettid));
  return id;
}

flagos_host_result stamp_start(void* argument) {
  const std::unique_ptr<std::shared_ptr<Activity>> work(static_cast<std::shared_ptr<Activity>*>(argument));
  (*work)->start = steady_now();
  return {FLAGOS_SUCCESS, nullptr, nullptr};
}

flagos_host_result stamp_end(void* argument) {
  const std::unique_ptr<std::shared_ptr<Activity>> work(static_cast<std::shared_ptr<Activity>*>(argument));
  (*work)->end = steady_now();
  if (Recorder* recorder = current.load(std::memory_order_acquire)) recorder->ended(**work);
  return {FLAGOS_SUCCESS, nullptr, nullptr};
}

bool queue(const std::shared_ptr<Activity>& work, flagos_host_function stamp) {
  auto argument = std::make_unique<std::shared_ptr<Activity>>(work);
  if (flagos::host::launch_host_function(work->device, work->stream, stamp, argument.get()) != FLAGOS_SUCCESS) return false;
  argument.release();  // the stamp owns it
  return true;
}

}  // namespace

Recorder* exchange_recorder(Recorder* recorder) noexcept { return current.exchange(recorder, std::memory_order_acq_rel); }

int64_t steady_now() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Call::Call(const char* name, Activity::Kind layer) : outer_(innermost) {
  Recorder* recorder = current.load(std::memory_order_acquire);
  if (!recorder || (outer_ != 0 && layer == Activity::Kind::runtime_call)) return;
  call_ = std::make_unique<Activity>(Activity{.kind = layer, .name = name});
  call_->correlation = innermost = numbers.fetch_add(1, std::memory_order_relaxed) + 1;
  call_->thread = this_thread();
  recorder->began(*call_);
  call_->start = steady_now();
}

Call::~Call() {
  if (!call_) return;
  call_->end = steady_now();
  innermost = outer_;
  if (Recorder* recorder = current.load(std::memory_order_acquire)) recorder->ended(*call_);
}

DeviceWork::DeviceWork(Activity work) {
  if (!current.load(std::memory_order_acquire)) return;
  auto made = std::make_shared<Activity>(std::move(work));
  made->correlation = innermost;
  made->thread = this_thread();
  if (queue(made, &stamp_start)) work_ = std::move(made);
}

DeviceWork::~DeviceWork() {
  if (work_ && !refused_) queue(work_, &stamp_end);
}

}  // namespace v1
}  // namespace emulation
