// SPDX-License-Identifier: Apache-2.0
// Whole tensors as contiguous arrays, for operators whose formulas are about shapes and not about strides.
#pragma once

#include <array>
#include <vector>

#include "strip.h"

namespace musa::dnn::emulation {

// visit(pointer to the row's first element, offset in the array) for each row along the last dimension.
template <class Visit>
void each_row(const View& view, Visit&& visit) {
  if (view.elements() == 0) return;
  const int inner = view.rank - 1;
  std::array<int64_t, kMaxRank> index{};
  char* at = view.data;
  for (int64_t place = 0;; place += view.sizes[inner]) {
    visit(at, place);
    int d = inner - 1;
    for (; d >= 0; --d) {
      at += view.strides[d] * view.element_bytes();
      if (++index[d] < view.sizes[d]) break;
      at -= view.strides[d] * view.sizes[d] * view.element_bytes();
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <class T>
std::vector<T> dense(const View& view) {
  std::vector<T> result(view ? view.elements() : 0);
  if (view)
    each_row(view, [&](const char* at, int64_t place) {
      load(result.data() + place, view.type, at, view.strides[view.rank - 1], view.sizes[view.rank - 1]);
    });
  return result;
}

template <class T>
void write(const View& view, const std::vector<T>& values) {
  if (!view) return;
  each_row(view, [&](char* at, int64_t place) {
    store(view.type, at, view.strides[view.rank - 1], values.data() + place, view.sizes[view.rank - 1]);
  });
}

// The view in the order batch, channels, space...: formats with the channels last are given in the order of their name.
inline View channels_first(const View& view) {
  if (view.format != Tensor::Format::NHWC && view.format != Tensor::Format::NDHWC) return view;
  View result = view;
  for (int d = 1; d < view.rank; ++d) {
    result.sizes[d] = view.sizes[d == 1 ? view.rank - 1 : d - 1];
    result.strides[d] = view.strides[d == 1 ? view.rank - 1 : d - 1];
  }
  result.format = Tensor::Format::NCHW;
  return result;
}

}  // namespace musa::dnn::emulation
