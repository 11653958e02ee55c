// SPDX-License-Identifier: Apache-2.0
// The life of a platform: started once, on first use, and never used after a fork. TORCH_FL_PLATFORM_ID names it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <exception>
#include <mutex>

#include "sentence.h"

namespace flagos {

inline std::atomic<bool> ready{false};   // true between a successful start and a fork (in the child)
inline std::atomic<bool> forked{false};  // in a child whose parent had started

// The reason why `ready` is false, as a failure.
inline flagos_status not_ready() {
  if (forked)
    return fail(FLAGOS_ERROR_SYSTEM,
                "flagos was initialised before this process was forked and cannot be used in it: use the spawn start "
                "method (torch.multiprocessing.set_start_method('spawn'))");
  return fail(FLAGOS_ERROR_SYSTEM, "the " TORCH_FL_PLATFORM_ID " platform is not initialised");
}

// Calls `start` unless an earlier call succeeded. Neither threads nor a channel to a driver survive a fork, and locks may be
// held by threads that no longer exist: nothing works in the child.
template <typename Start>
flagos_status start_once(Start start) {
  static auto* mutex = new std::mutex();
  if (forked) return not_ready();
  const std::lock_guard lock(*mutex);
  if (ready) return FLAGOS_SUCCESS;
  if (const flagos_status status = start(); status != FLAGOS_SUCCESS) return status;
  pthread_atfork(nullptr, nullptr, [] {
    if (ready.exchange(false)) forked = true;
  });
  ready = true;
  return FLAGOS_SUCCESS;
}

// A function of the contract: refuses before the start and after a fork, lets no C++ exception out. The interpreter may end a
// thread inside a host function (pthread_exit), which is not an exception and passes through.
template <auto function>
struct Guarded;
template <typename... Arguments, flagos_status (*function)(Arguments...)>
struct Guarded<function> {
  static flagos_status call(Arguments... arguments) {
    if (!ready.load(std::memory_order_acquire)) return not_ready();
    try {
      return function(arguments...);
    } catch (const std::exception& error) {
      return fail(FLAGOS_ERROR_SYSTEM, "the " TORCH_FL_PLATFORM_ID " platform failed: %s", error.what());
    }
  }
};
template <auto function>
inline constexpr auto guarded = &Guarded<function>::call;

}  // namespace flagos
