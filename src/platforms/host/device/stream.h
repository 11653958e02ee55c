// SPDX-License-Identifier: Apache-2.0
// A stream: work in order, asynchronous to the program and to other streams.
//
// A device's default stream runs work on the calling thread while nothing is queued, which makes it as cheap as a
// function call; once it waits for another stream's event its work is queued like anyone's.  Work that a function
// launches on the stream it runs on is part of that function and runs at once.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <variant>

#include "record.h"

namespace flagos::host {

struct Call {
  flagos_host_function function;
  void* argument;
};
struct Copy {  // kernel or host addresses
  void* to;
  const void* from;
  size_t bytes;
};
struct Fill {
  void* to;
  int32_t byte;
  size_t bytes;
};
struct Reach {
  RecordPointer record;
};
struct Await {
  RecordPointer record;
};
using Work = std::variant<Call, Copy, Fill, Reach, Await>;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind { kDefault, kSide };
  Stream(int32_t device, int32_t priority, Kind kind) : device_(device), priority_(priority), kind_(kind) {}

  int32_t device() const noexcept { return device_; }
  int32_t priority() const noexcept { return priority_; }

  // Nothing queued, nothing running, no error to report.
  bool idle() const noexcept { return state_.load(std::memory_order_acquire) == 0; }

  void submit(Work work);
  void record(RecordPointer record);
  void wait_for(RecordPointer record);

  flagos_status query();        // FLAGOS_ERROR_NOT_READY while work is pending
  flagos_status settle();       // returns when all work submitted so far is done
  flagos_status synchronize();  // the same, and reports its error

  // Runs what is queued until the stream is empty or waits for an event.  For Workers only.
  void drain();

 private:
  bool running_here() const noexcept;
  void enqueue(Work work);
  void perform(Work& work);
  void perform_owned(Work& work);  // and then gives up one unit of `state_`
  bool finish_one() noexcept;
  flagos_status take_failure();
  void set_failure(FailurePointer failure);
  FailurePointer failure();

  // The number of unfinished pieces of work, and kFailed.  Who raises the number from 0 owns the stream: it runs the
  // work, or hands it to a worker, until the number is 0 again.
  std::atomic<uint64_t> state_{0};
  const int32_t device_, priority_;
  const Kind kind_;
  std::mutex mutex_;
  std::deque<Work> queue_;   // guarded by mutex_
  FailurePointer failure_;  // guarded by mutex_; kFailed is set while it is not null
};

}  // namespace flagos::host
