// SPDX-License-Identifier: Apache-2.0
#include "tracer_clock.h"

#include <time.h>

#include <cmath>

namespace torch_fl {
namespace {

constexpr int kAttempts = 7;  // one of them is not interrupted

int64_t realtime_now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<ClockSample> sample_clocks(const flagos_tracer& tracer) {
  std::optional<ClockSample> best;
  int64_t narrowest = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    uint64_t theirs = 0;
    const int64_t before = realtime_now();
    if (tracer.now(&theirs) != FLAGOS_SUCCESS) return std::nullopt;
    const int64_t width = realtime_now() - before;
    if (best && (width >= narrowest || width < 0)) continue;
    narrowest = width;
    best = ClockSample{theirs, before + width / 2};
  }
  return best;
}

ClockMap::ClockMap(ClockSample start, ClockSample end) : start_(start), rate_(1.0) {
  if (end.tracer > start.tracer && end.realtime > start.realtime)
    rate_ = static_cast<double>(end.realtime - start.realtime) / static_cast<double>(end.tracer - start.tracer);
}

int64_t ClockMap::realtime(uint64_t tracer) const {
  // Differences first: a double holds those of a session exactly, and not the times themselves.
  const auto since = static_cast<double>(static_cast<int64_t>(tracer - start_.tracer));
  return start_.realtime + std::llround(since * rate_);
}

}  // namespace torch_fl
