// SPDX-License-Identifier: Apache-2.0
// Matrices between tensors and the contiguous arrays that gemm takes.
#pragma once

#include <vector>

#include "strip.h"

namespace musa::dnn::emulation {

// The nearest number that TF32 has: 10 bits of mantissa in the range of float.
inline float to_tf32(float value) { return bits_to_float(round_mantissa(float_to_bits(value), 13)); }

template <class T>
void to_tf32(T*, int64_t) {}
inline void to_tf32(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = to_tf32(values[i]);
}

// The type that products of this element type are computed in; integers as uint64, whose overflow is defined.
template <class Visit>
decltype(auto) with_product(Tensor::Type type, Visit&& visit) {
  if (type == Tensor::Type::DOUBLE) return visit(double{});
  if (is_float(type)) return visit(float{});
  return visit(uint64_t{});
}

// Rows of a 2-dimensional view, one after the other; tf32: rounded (FLOAT only).
template <class T>
std::vector<T> gather_matrix(const View& view, bool tf32) {
  const int64_t rows = view.sizes[0], columns = view.sizes[1];
  std::vector<T> result(rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    load(result.data() + r * columns, view.type, view.at(r * view.strides[0]), view.strides[1], columns);
  if (tf32 && view.type == Tensor::Type::FLOAT) to_tf32(result.data(), rows * columns);
  return result;
}


}  // namespace musa::dnn::emulation
