// SPDX-License-Identifier: Apache-2.0
// The threads that run streams.
//
// A stream that has work gets a thread at once: an idle one, or a new one.  So streams never wait for each other
// except through events, and a stream that waits for an event holds no thread.  Idle threads end after some seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace flagos::host {

class Stream;

class Workers {
 public:
  // Has a thread run the stream until it is empty or waits.  Each stream is scheduled by one owner at a time.
  void schedule(std::shared_ptr<Stream> stream);

  // For process exit: no more work is started; waits up to `patience` for what is running.
  void close(std::chrono::milliseconds patience);
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 private:
  static void* enter(void* self);
  void loop();
  bool start_thread();

  std::mutex mutex_;
  std::condition_variable work_, quiet_;
  std::deque<std::shared_ptr<Stream>> ready_;
  size_t threads_ = 0, idle_ = 0;
  std::atomic<bool> closed_{false};
};

// Never destroyed: its threads are detached and may outlive static objects.
Workers& workers();

}  // namespace flagos::host
