// SPDX-License-Identifier: Apache-2.0
// tracer_clock.h: from a tracer's clock to the realtime clock, on which PyTorch's profiler draws everything.
#pragma once

#include <flagos_tracer.h>

#include <cstdint>
#include <optional>

#include "macros.h"

namespace torch_fl {

// One moment on both clocks, in nanoseconds.
struct ClockSample {
  uint64_t tracer;
  int64_t realtime;
};

// Reads both clocks a few times and keeps the closest pair; nothing when the tracer's cannot be read.
std::optional<ClockSample> sample_clocks(const flagos_tracer& tracer);

// The straight line through the two ends of a session: the clocks may differ in rate as well as in origin.
class TORCH_FL_API ClockMap {
 public:
  ClockMap(ClockSample start, ClockSample end);
  int64_t realtime(uint64_t tracer) const;

 private:
  ClockSample start_;
  double rate_;  // realtime nanoseconds for one of the tracer's
};

}  // namespace torch_fl
