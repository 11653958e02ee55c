// SPDX-License-Identifier: Apache-2.0
// Scalar operands, kept as a real number and as an integer, since int64 operators need all 64 bits.
#pragma once

#include "mudnncxx/mudnn_math.h"
#include "number.h"

namespace musa::dnn::emulation {

inline Scalar scalar(double value) { return {value, convert<int64_t>(value)}; }
inline Scalar scalar(int64_t value) { return {static_cast<double>(value), value}; }

template <class Compute>
Compute as(const Scalar& scalar) {
  if constexpr (std::is_floating_point_v<Compute>) return static_cast<Compute>(scalar.real);
  else return static_cast<Compute>(scalar.integer);
}

}  // namespace musa::dnn::emulation
