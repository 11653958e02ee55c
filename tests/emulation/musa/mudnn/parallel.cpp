// SPDX-License-Identifier: Apache-2.0
#include "parallel.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace musa::dnn::emulation {
namespace {

int64_t most_threads() {
  static const int64_t count = [] {
    const char* variable = std::getenv("OMP_NUM_THREADS");
    const int64_t asked = variable ? std::atoll(variable) : 0;
    return std::max<int64_t>(1, asked > 0 ? asked : std::thread::hardware_concurrency());
  }();
  return count;
}

thread_local bool inside = false;  // what is parallel already is not split again

}  // namespace

void parallel(int64_t count, int64_t grain, double cost, const std::function<void(int64_t, int64_t)>& work) {
  constexpr double kWorthAThread = 4e6;  // operations; starting one costs tens of microseconds
  const int64_t pieces = (count + grain - 1) / grain;
  const int64_t threads = std::min({most_threads(), pieces, static_cast<int64_t>(cost / kWorthAThread)});
  if (threads < 2 || inside) return work(0, count);
  std::vector<std::thread> others;
  std::vector<std::exception_ptr> errors(threads);
  const auto part = [&](int64_t t) {
    inside = true;
    try {
      const int64_t first = pieces * t / threads * grain, last = std::min(count, pieces * (t + 1) / threads * grain);
      if (first < last) work(first, last);
    } catch (...) {
      errors[t] = std::current_exception();
    }
  };
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(part, t);
  part(0);
  inside = false;
  for (auto& thread : others) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace musa::dnn::emulation
