// SPDX-License-Identifier: Apache-2.0
// convolution_algorithm.h: mudnn recommends an algorithm that it may then refuse to run. What ran for a shape is kept.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "session.h"

namespace torch_fl::mudnn {

// Direction, device, type, parameters and sizes.
using AlgorithmKey = std::vector<int64_t>;

template <class Algorithm>
class AlgorithmCache {
 public:
  std::optional<Algorithm> find(const AlgorithmKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = chosen_.find(key);
    return found == chosen_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const AlgorithmKey& key, Algorithm algorithm) {
    const std::lock_guard lock(mutex_);
    chosen_[key] = algorithm;
  }

  static AlgorithmCache& instance() {
    static auto* cache = new AlgorithmCache();
    return *cache;
  }

 private:
  std::mutex mutex_;
  std::map<AlgorithmKey, Algorithm> chosen_;
};

// Runs the kept algorithm, else the recommended one, else each of the others. Throws Decline when all are refused.
template <class Algorithm, class Recommend, class Run>
void run_with_algorithm(const AlgorithmKey& key, Recommend&& recommend, Run&& run) {
  auto& cache = AlgorithmCache<Algorithm>::instance();
  auto works = [&](Algorithm algorithm) {
    const dnn::Status status = run(algorithm);
    if (status == dnn::Status::NOT_SUPPORTED) return false;
    check(status, "Convolution");
    return true;
  };
  if (const auto kept = cache.find(key))
    if (works(*kept)) return;
  std::vector<Algorithm> candidates;
  Algorithm best{};
  if (recommend(best) == dnn::Status::SUCCESS) candidates.push_back(best);
  for (const Algorithm other : {Algorithm::IMPLICIT_GEMM, Algorithm::GEMM, Algorithm::DIRECT, Algorithm::WINOGRAD_NONFUSED})
    if (candidates.empty() || other != candidates.front()) candidates.push_back(other);
  for (const Algorithm algorithm : candidates) {
    if (!works(algorithm)) continue;
    cache.keep(key, algorithm);
    return;
  }
  throw Decline("mudnn has no algorithm for this convolution");
}

}  // namespace torch_fl::mudnn
