// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <cstring>
#include <exception>
#include <utility>

#include "current_device.h"
#include "workers.h"

namespace flagos::host {
namespace {

constexpr uint64_t kFailed = uint64_t{1} << 63;
constexpr uint64_t kCount = kFailed - 1;

// The streams whose functions are running on this thread, innermost first.
struct Frame {
  const Stream* stream;
  Frame* outer;
  int32_t device_before;

  explicit Frame(const Stream* running);
  ~Frame();
};
thread_local Frame* innermost = nullptr;

Frame::Frame(const Stream* running) : stream(running), outer(innermost), device_before(current_device) {
  innermost = this;
  current_device = running->device();
}
Frame::~Frame() {
  innermost = outer;
  current_device = device_before;
}

FailurePointer run(const Call& call) {
  try {
    const flagos_host_result result = call.function(call.argument);
    if (result.status == FLAGOS_SUCCESS) return nullptr;
    auto failure = std::make_shared<Failure>(result.message ? result.message : "queued work failed without a reason");
    if (result.message && result.free_message) result.free_message(result.message);
    return failure;
  } catch (const std::exception& error) {
    return std::make_shared<Failure>(error.what());
  }
}

}  // namespace

bool Stream::running_here() const noexcept {
  for (const Frame* frame = innermost; frame; frame = frame->outer)
    if (frame->stream == this) return true;
  return false;
}

void Stream::perform(Work& work) {
  Frame frame(this);
  if (auto* call = std::get_if<Call>(&work)) {
    set_failure(run(*call));
  } else if (auto* copy = std::get_if<Copy>(&work)) {
    std::memmove(copy->to, copy->from, copy->bytes);
  } else if (auto* fill = std::get_if<Fill>(&work)) {
    std::memset(fill->to, fill->byte, fill->bytes);
  } else if (auto* reach = std::get_if<Reach>(&work)) {
    reach->record->reach(failure());
  } else if (auto* await = std::get_if<Await>(&work)) {
    // Reached already when a worker gets here; inside a running function there is nothing to do but wait.
    if (await->record->wait() == FLAGOS_SUCCESS) set_failure(await->record->failure());
  }
}

bool Stream::finish_one() noexcept { return (state_.fetch_sub(1, std::memory_order_acq_rel) & kCount) > 1; }

void Stream::perform_owned(Work& work) {
  try {
    perform(work);
  } catch (...) {  // the thread is being ended from within the function
    if (finish_one()) workers().schedule(shared_from_this());
    throw;
  }
}

void Stream::enqueue(Work work) {
  uint64_t before;
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    before = state_.fetch_add(1, std::memory_order_acq_rel);
  }
  if ((before & kCount) == 0) workers().schedule(shared_from_this());
}

void Stream::submit(Work work) {
  uint64_t nothing = 0;
  if (kind_ == Kind::kDefault && state_.compare_exchange_strong(nothing, 1, std::memory_order_acq_rel)) {
    perform_owned(work);
    if (finish_one()) workers().schedule(shared_from_this());
  } else if (running_here()) {
    perform(work);
  } else {
    enqueue(std::move(work));
  }
}

void Stream::record(RecordPointer record) {
  if (idle()) return record->reach(nullptr);
  if (running_here()) return record->reach(failure());
  enqueue(Reach{std::move(record)});
}

void Stream::wait_for(RecordPointer record) {
  if (!record || (record->reached() && !is_pending(record->failure()))) return;
  Work work = Await{std::move(record)};
  if (running_here()) return perform(work);
  enqueue(std::move(work));
}

void Stream::drain() {
  for (bool more = true; more;) {
    Work work;
    {
      std::lock_guard lock(mutex_);
      auto& front = queue_.front();
      // Once parked the stream belongs to the record; another thread may be draining it already.
      if (auto* await = std::get_if<Await>(&front); await && await->record->park(shared_from_this())) return;
      work = std::move(front);
      queue_.pop_front();
    }
    if (auto* reach = std::get_if<Reach>(&work)) {
      // Who waits for the record must find the stream idle when it was the last in the queue.
      const FailurePointer failed = failure();
      more = finish_one();
      reach->record->reach(failed);
    } else {
      perform_owned(work);
      if (workers().closed()) return;
      more = finish_one();
    }
  }
}

void Stream::set_failure(FailurePointer failure) {
  if (!is_pending(failure)) return;
  std::lock_guard lock(mutex_);
  if (is_pending(failure_)) return;  // the first error is the cause
  failure_ = std::move(failure);
  state_.fetch_or(kFailed, std::memory_order_acq_rel);
}

FailurePointer Stream::failure() {
  if (!(state_.load(std::memory_order_acquire) & kFailed)) return nullptr;
  std::lock_guard lock(mutex_);
  return failure_;
}

flagos_status Stream::take_failure() {
  if (!(state_.load(std::memory_order_acquire) & kFailed)) return FLAGOS_SUCCESS;
  FailurePointer taken;
  {
    std::lock_guard lock(mutex_);
    taken.swap(failure_);
    state_.fetch_and(~kFailed, std::memory_order_acq_rel);
  }
  return report(taken);
}

flagos_status Stream::query() {
  if (idle()) return FLAGOS_SUCCESS;
  if (const auto status = take_failure(); status != FLAGOS_SUCCESS) return status;
  if (idle() || running_here()) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_NOT_READY, "work is pending on a stream of flagos:%d", device_);
}

flagos_status Stream::settle() {
  if ((state_.load(std::memory_order_acquire) & kCount) == 0 || running_here()) return FLAGOS_SUCCESS;
  auto end = std::make_shared<Record>();
  record(end);
  return end->wait();
}

flagos_status Stream::synchronize() {
  const auto status = settle();
  return status == FLAGOS_SUCCESS ? take_failure() : status;
}

}  // namespace flagos::host
