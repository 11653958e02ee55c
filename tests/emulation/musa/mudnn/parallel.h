// SPDX-License-Identifier: Apache-2.0
// Threads for one piece of work. They live as long as it does, so nothing is left behind for fork or exit.
#pragma once

#include <cstdint>
#include <functional>

namespace musa::dnn::emulation {

// work(first, last) on parts of [0, count), as many as OMP_NUM_THREADS or the machine's processors; on the caller alone
// where `cost` (operations) would not pay for threads. The parts' borders are multiples of `grain`. Results must not depend
// on how the range is cut. The first exception of a part is thrown again.
void parallel(int64_t count, int64_t grain, double cost, const std::function<void(int64_t, int64_t)>& work);

}  // namespace musa::dnn::emulation
