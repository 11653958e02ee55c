// SPDX-License-Identifier: Apache-2.0
// Strips: short runs of elements between memory of any type and stride, and arrays of the type that is computed in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "number.h"
#include "view.h"

namespace musa::dnn::emulation {

constexpr int64_t kStrip = 256;  // elements

// to[i] = from[i * stride], stride in elements; Compute is float, double, int64_t, uint64_t, or uint8_t for truth values.
template <class Compute>
void load(Compute* to, Tensor::Type type, const char* from, int64_t stride, int64_t count);
// to[i * stride] = from[i]
template <class Compute>
void store(Tensor::Type type, char* to, int64_t stride, const Compute* from, int64_t count);

template <class Compute>
Compute load_one(const View& view, int64_t offset) {
  Compute value;
  load(&value, view.type, view.at(offset), 0, 1);
  return value;
}
template <class Compute>
void store_one(const View& view, int64_t offset, Compute value) {
  store(view.type, view.at(offset), 1, &value, 1);
}

template <class Compute>
constexpr bool holds(Tensor::Type type) {  // memory of this type can be read as Compute without conversion
  return (std::is_same_v<Compute, float> && type == Tensor::Type::FLOAT) ||
         (std::is_same_v<Compute, double> && type == Tensor::Type::DOUBLE) ||
         (std::is_same_v<Compute, int64_t> && type == Tensor::Type::INT64) ||
         (std::is_same_v<Compute, uint64_t> && type == Tensor::Type::UINT64);
}

}  // namespace musa::dnn::emulation
