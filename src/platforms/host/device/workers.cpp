// SPDX-License-Identifier: Apache-2.0
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "stream.h"

namespace flagos::host {
namespace {

constexpr std::chrono::seconds kIdleTime{10};

// Signals for the process belong to the program's own threads; faults belong to the thread that made them.
sigset_t asynchronous_signals() {
  sigset_t set;
  sigfillset(&set);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) sigdelset(&set, fault);
  return set;
}

}  // namespace

Workers& workers() {
  static auto* instance = new Workers();
  return *instance;
}

void* Workers::enter(void* self) {
  static_cast<Workers*>(self)->loop();
  return nullptr;
}

bool Workers::start_thread() {
  const sigset_t blocked = asynchronous_signals();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, &Workers::enter, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return false;
  pthread_setname_np(thread, "flagos-stream");
  pthread_detach(thread);
  ++threads_;
  return true;
}

void Workers::schedule(std::shared_ptr<Stream> stream) {
  std::unique_lock lock(mutex_);
  if (closed()) return;
  ready_.push_back(std::move(stream));
  if (idle_ >= ready_.size()) {
    work_.notify_one();
    return;
  }
  if (start_thread() || threads_ > 0) return;
  // No thread is to be had: the work is done here, late but in order.
  stream = std::move(ready_.back());
  ready_.pop_back();
  lock.unlock();
  stream->drain();
}

void Workers::loop() {
  // Not a catch block: a thread that the interpreter ends (pthread_exit, while it shuts down) must unwind freely.
  struct Leave {
    Workers& self;
    ~Leave() {
      std::lock_guard lock(self.mutex_);
      --self.threads_;
      self.quiet_.notify_all();
    }
  } leave{*this};

  std::unique_lock lock(mutex_);
  for (;;) {
    if (closed()) {
      ++idle_;
      quiet_.notify_all();
      lock.unlock();
      for (;;) pause();  // no thread-local destructors beside the exiting program's static ones
    }
    if (!ready_.empty()) {
      auto stream = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      stream->drain();
      stream.reset();
      lock.lock();
      continue;
    }
    ++idle_;
    const bool woken = work_.wait_for(lock, kIdleTime, [this] { return closed() || !ready_.empty(); });
    --idle_;
    if (!woken) {
      lock.unlock();
      return;
    }
  }
}

void Workers::close(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  closed_.store(true, std::memory_order_release);
  work_.notify_all();
  quiet_.wait_for(lock, patience, [this] { return idle_ == threads_; });
}

}  // namespace flagos::host
