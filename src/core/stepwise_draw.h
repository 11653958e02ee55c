// SPDX-License-Identifier: Apache-2.0
// stepwise_draw.h: a draw by a kernel that reads the generator's state and writes it back further on, as kernels written in
// Python do. Between the two steps other threads draw from the same stream: none of them may get the kernel's numbers.
#pragma once

#include <flagos_runtime.h>

#include <functional>
#include <vector>

#include "macros.h"

namespace torch_fl {

// While one lives, get_state() on its thread also takes kSetAside numbers out of the stream, more than a kernel draws. set_state()
// then moves the stream to where the kernel says, if nobody has drawn since; else it stays, beyond what was set aside. So one
// thread's stream is the kernel's own, and nothing waits: whoever holds the interpreter could not.
class TORCH_FL_API StepwiseDraw {
 public:
  static constexpr uint64_t kSetAside = uint64_t{1} << 32;
  // Moves the stream from one place to another, unless it stands elsewhere. Atomic.
  using Move = std::function<void(PhiloxPosition from, PhiloxPosition to)>;

  StepwiseDraw();
  ~StepwiseDraw();  // gives back what was read and not written
  StepwiseDraw(const StepwiseDraw&) = delete;
  StepwiseDraw& operator=(const StepwiseDraw&) = delete;

  static StepwiseDraw* current();  // this thread's, or null

  // A generator tells that it was read at `here` and has moved on by kSetAside.
  void was_read(const void* stream, PhiloxPosition here, Move move);
  // Whether `stream` was read by this draw; if so, the write is done.
  bool write(const void* stream, PhiloxPosition to);

 private:
  struct Stretch {
    const void* stream;
    PhiloxPosition begin;
    Move move;
    PhiloxPosition end() const { return {begin.seed, begin.offset + kSetAside}; }
  };
  StepwiseDraw* const outer_;
  std::vector<Stretch> stretches_;
};

}  // namespace torch_fl
