// SPDX-License-Identifier: Apache-2.0
// Walks tensors of equal sizes together, in runs along their best dimension.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "view.h"

namespace musa::dnn::emulation {

template <size_t N>
class Loop {
 public:
  // Dimensions of size 1 are left out, the others sorted by the first view's strides and merged where they follow on.
  explicit Loop(const std::array<View, N>& views) {
    for (size_t v = 0; v < N; ++v) {
      data_[v] = views[v].data;
      bytes_[v] = views[v].element_bytes();
    }
    empty_ = views[0].elements() == 0;
    std::array<int, kMaxRank> order{};
    int used = 0;
    for (int d = views[0].rank - 1; d >= 0; --d)
      if (views[0].sizes[d] != 1) order[used++] = d;
    std::stable_sort(order.begin(), order.begin() + used, [&](int a, int b) {
      for (const View& view : views)
        if (std::abs(view.strides[a]) != std::abs(view.strides[b])) return std::abs(view.strides[a]) < std::abs(view.strides[b]);
      return false;
    });
    for (int i = 0; i < used; ++i) {
      const int d = order[i];
      bool follows = rank_ > 0;
      for (size_t v = 0; follows && v < N; ++v)
        follows = views[v].strides[d] == strides_[v][rank_ - 1] * sizes_[rank_ - 1];
      if (follows) {
        sizes_[rank_ - 1] *= views[0].sizes[d];
        continue;
      }
      sizes_[rank_] = views[0].sizes[d];
      for (size_t v = 0; v < N; ++v) strides_[v][rank_] = views[v].strides[d];
      ++rank_;
    }
    if (rank_ == 0) {
      rank_ = 1;
      sizes_[0] = 1;
    }
  }

  // run(pointers, strides in elements, count) for each run.
  template <class Run>
  void each(Run&& run) const {
    if (empty_) return;
    std::array<int64_t, N> strides;
    for (size_t v = 0; v < N; ++v) strides[v] = strides_[v][0];
    std::array<char*, N> at = data_;
    std::array<int64_t, kMaxRank> index{};
    for (;;) {
      run(at, strides, sizes_[0]);
      int d = 1;
      for (; d < rank_; ++d) {
        for (size_t v = 0; v < N; ++v) at[v] += strides_[v][d] * bytes_[v];
        if (++index[d] < sizes_[d]) break;
        for (size_t v = 0; v < N; ++v) at[v] -= strides_[v][d] * bytes_[v] * sizes_[d];
        index[d] = 0;
      }
      if (d >= rank_) return;
    }
  }

 private:
  int rank_ = 0;
  bool empty_ = false;
  std::array<char*, N> data_;
  std::array<int64_t, N> bytes_;
  std::array<int64_t, kMaxRank> sizes_{};
  std::array<std::array<int64_t, kMaxRank>, N> strides_{};
};

}  // namespace musa::dnn::emulation
