// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <utility>

#include "workers.h"

namespace flagos::host {

void Record::reach(FailurePointer failure) {
  std::vector<std::shared_ptr<Stream>> parked;
  {
    std::lock_guard lock(mutex_);
    time_ = Clock::now();
    failure_ = std::move(failure);
    reached_.store(true, std::memory_order_release);
    parked.swap(parked_);
  }
  changed_.notify_all();
  for (auto& stream : parked) workers().schedule(std::move(stream));
}

flagos_status Record::wait() {
  if (reached()) return FLAGOS_SUCCESS;
  // Once the workers have closed nothing is reached any more; they cannot know who waits, so look now and then.
  constexpr std::chrono::milliseconds kLook{100};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [this] { return reached(); }))
    if (workers().closed()) return fail(FLAGOS_ERROR_SYSTEM, "the process is exiting: queued work will not be finished");
  return FLAGOS_SUCCESS;
}

bool Record::park(std::shared_ptr<Stream> stream) {
  std::lock_guard lock(mutex_);
  if (reached()) return false;
  parked_.push_back(std::move(stream));
  return true;
}

}  // namespace flagos::host
