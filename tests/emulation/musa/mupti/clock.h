// SPDX-License-Identifier: Apache-2.0
// clock.h: the clock of the records. It has an origin and a rate of its own, as a card's does, so that whoever takes its times
// for the host's, or corrects the origin alone, is seen to be wrong.
#pragma once

#include <time.h>

#include <cstdint>

namespace mupti {

constexpr uint64_t kOrigin = 3'000'000'000'000'000;  // longer than a machine runs
constexpr uint64_t kFaster = 1024;                   // one nanosecond more in so many

inline uint64_t card_time(uint64_t monotonic) { return kOrigin + monotonic + monotonic / kFaster; }

inline uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return card_time(static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec));
}

}  // namespace mupti
