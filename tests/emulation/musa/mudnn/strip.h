// SPDX-License-Identifier: Apache-2.0
// Strips: short runs of elements between memory of any type and stride, and arrays of the type that is computed in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "number.h"
#include "view.h"

namespace musa::dnn::emulation {

constexpr int64_t kStrip = 256;  // elements

// to[i] = from[i * stride], stride in elements.
template <class Compute>
void load(Compute* to, Tensor::Type type, const char* from, int64_t stride, int64_t count) {
  with_element(type, [&](auto tag) {
    using Element = decltype(tag);
    const Element* source = reinterpret_cast<const Element*>(from);
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) to[i] = convert<Compute>(source[i]);
    } else if (stride == 0) {
      std::fill_n(to, count, convert<Compute>(*source));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = convert<Compute>(source[i * stride]);
    }
  });
}

template <class Compute>
void store(Tensor::Type type, char* to, int64_t stride, const Compute* from, int64_t count) {
  with_element(type, [&](auto tag) {
    using Element = decltype(tag);
    Element* target = reinterpret_cast<Element*>(to);
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) target[i] = convert<Element>(from[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) target[i * stride] = convert<Element>(from[i]);
    }
  });
}

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
