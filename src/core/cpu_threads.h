// SPDX-License-Identifier: Apache-2.0
// cpu_threads.h: CPU kernels use as many threads wherever they run. PyTorch's thread count belongs to a thread, and a new
// thread takes the last value that anybody set: a DataLoader's pinning thread sets 1, and the autograd threads that start
// after it would run the whole backward pass on one core, with other rounding than the forward pass.
#pragma once

#include <atomic>

namespace torch_fl {

void use_cpu_threads(int count);  // on this thread

// Called where backward() starts, on the thread that asks for it.
void note_caller_threads();

namespace detail {
extern std::atomic<int> caller_threads;  // of the last backward(); 0 before
extern thread_local int matched_threads;
void match_caller_threads();
}  // namespace detail

// Called by every kernel; does something on autograd's threads only.
inline void match_caller_threads() {
  if (__builtin_expect(detail::matched_threads != detail::caller_threads.load(std::memory_order_relaxed), 0))
    detail::match_caller_threads();
}

}  // namespace torch_fl
