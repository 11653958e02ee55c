// SPDX-License-Identifier: Apache-2.0
// One recording of an event: a point in a stream's work that has been reached or not.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "failure.h"

namespace flagos::host {

class Stream;

class Record {
 public:
  using Clock = std::chrono::steady_clock;

  bool reached() const noexcept { return reached_.load(std::memory_order_acquire); }

  // Called once, by the stream that gets here; `failure` is what had gone wrong on it by then, if anything.
  void reach(FailurePointer failure);

  // Blocks the calling thread until the stream gets here.  FLAGOS_ERROR_SYSTEM when the process exits first.
  flagos_status wait();

  // Parks a stream until this point is reached; then it is scheduled again.  False: reached already, not parked.
  bool park(std::shared_ptr<Stream> stream);

  // Meaningful once reached.
  Clock::time_point time() const noexcept { return time_; }
  const FailurePointer& failure() const noexcept { return failure_; }

 private:
  std::atomic<bool> reached_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Stream>> parked_;
  Clock::time_point time_{};
  FailurePointer failure_;
};
using RecordPointer = std::shared_ptr<Record>;

}  // namespace flagos::host
