// SPDX-License-Identifier: Apache-2.0
// A copy of a Tensor's description with the memory's host address: what queued work reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "mudnncxx/mudnn_base.h"
#include "number.h"

namespace musa::dnn::emulation {

constexpr int kMaxRank = 8;  // guess

struct View {
  Tensor::Type type = Tensor::Type::FLOAT;
  Tensor::Format format = Tensor::Format::NCHW;
  char* data = nullptr;
  int rank = 0;  // 0: no tensor
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{};  // elements

  explicit operator bool() const { return rank > 0; }
  int64_t elements() const {
    int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= sizes[d];
    return product;
  }
  int64_t element_bytes() const { return size_of(type); }
  bool same_sizes(const View& other) const {
    if (rank != other.rank) return false;
    for (int d = 0; d < rank; ++d)
      if (sizes[d] != other.sizes[d]) return false;
    return true;
  }
  char* at(int64_t offset) const { return data + offset * element_bytes(); }  // offset in elements
  // The view at `index` of dimension `dim`, without it (with one dimension of size 1 if it was the last).
  View select(int dim, int64_t index) const {
    View result = *this;
    result.data = at(index * strides[dim]);
    if (rank == 1) {
      result.sizes[0] = 1;
      return result;
    }
    for (int d = dim; d + 1 < rank; ++d) {
      result.sizes[d] = sizes[d + 1];
      result.strides[d] = strides[d + 1];
    }
    --result.rank;
    return result;
  }
  View narrow(int dim, int64_t start, int64_t length) const {
    View result = *this;
    result.data = at(start * strides[dim]);
    result.sizes[dim] = length;
    return result;
  }
};

// Right-aligned broadcast to the sizes of `like`; false where it does not fit.
inline bool broadcast(View& view, const View& like) {
  if (view.rank > like.rank) return false;
  View result = view;
  result.rank = like.rank;
  for (int d = like.rank - 1, s = view.rank - 1; d >= 0; --d, --s) {
    result.sizes[d] = like.sizes[d];
    if (s < 0 || (view.sizes[s] == 1 && like.sizes[d] != 1)) {
      result.strides[d] = 0;
    } else if (view.sizes[s] == like.sizes[d]) {
      result.strides[d] = view.strides[s];
    } else {
      return false;
    }
  }
  view = result;
  return true;
}

}  // namespace musa::dnn::emulation
