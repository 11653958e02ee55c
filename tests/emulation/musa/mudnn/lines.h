// SPDX-License-Identifier: Apache-2.0
// Lines: the elements of a tensor along one dimension, for operators that need all of them at once.
#pragma once

#include <array>
#include <vector>

#include "strip.h"

namespace musa::dnn::emulation {

struct Line {
  Tensor::Type type;
  char* data;
  int64_t stride;  // elements
  int64_t length;

  template <class T>
  void read(std::vector<T>& to) const {
    to.resize(length);
    load(to.data(), type, data, stride, length);
  }
  template <class T>
  void write(const std::vector<T>& from) const {
    store(type, data, stride, from.data(), length);
  }
};

// visit(lines) for each place in the other dimensions, whose sizes are equal in all views (and taken from the first).
template <size_t N, class Visit>
void each_line(const std::array<View, N>& views, int dim, Visit&& visit) {
  for (int d = 0; d < views[0].rank; ++d)
    if (d != dim && views[0].sizes[d] == 0) return;
  std::array<Line, N> lines;
  for (size_t v = 0; v < N; ++v) lines[v] = {views[v].type, views[v].data, views[v].strides[dim], views[v].sizes[dim]};
  std::array<int64_t, kMaxRank> index{};
  for (;;) {
    visit(lines);
    int d = views[0].rank - 1;
    for (; d >= 0; --d) {
      if (d == dim) continue;
      const auto step = [&](int64_t count) {
        for (size_t v = 0; v < N; ++v) lines[v].data += count * views[v].strides[d] * views[v].element_bytes();
      };
      step(1);
      if (++index[d] < views[0].sizes[d]) break;
      step(-views[0].sizes[d]);
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

// Whether the sizes agree in all dimensions but `dim`.
inline bool same_but(int dim, const View& a, const View& b) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d)
    if (d != dim && a.sizes[d] != b.sizes[d]) return false;
  return true;
}

}  // namespace musa::dnn::emulation
