// SPDX-License-Identifier: Apache-2.0
// The element types of mudnn's tensors, and their conversion from and to the types that operators compute in.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "mudnncxx/mudnn_base.h"

namespace musa::dnn::emulation {

inline float bits_to_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t float_to_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Clears the last `dropped` bits of a float's mantissa, to the nearest, ties to even. NaN stays NaN.
inline uint32_t round_mantissa(uint32_t bits, int dropped) {
  const uint32_t odd = (bits >> dropped) & 1u;
  const uint32_t rounded = (bits + (1u << (dropped - 1)) - 1u + odd) & ~((1u << dropped) - 1u);
  return (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x00400000u : rounded;
}

// The conversions choose between results instead of branching, so that loops of them are vectorised.
struct BFloat16 {  // the upper half of a float
  uint16_t bits;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(static_cast<uint16_t>(round_mantissa(float_to_bits(value), 16) >> 16)) {}
  operator float() const { return bits_to_float(static_cast<uint32_t>(bits) << 16); }
};

struct Half {  // IEEE 754 binary16
  uint16_t bits;
  Half() = default;
  explicit Half(float value) {
    const uint32_t source = float_to_bits(value), magnitude = source & 0x7fffffffu;
    const uint32_t rounded = round_mantissa(magnitude, 13);
    // Subnormal: the sum's last mantissa bit weighs 2^-24, and the sum rounds.
    const uint32_t small = float_to_bits(bits_to_float(magnitude) + 0.5f) - float_to_bits(0.5f);
    uint32_t result = magnitude < 0x38800000u ? small : (rounded >> 13) - (112u << 10);
    result = rounded >= 0x47800000u ? 0x7c00u : result;
    result = magnitude > 0x7f800000u ? 0x7e00u : result;
    bits = static_cast<uint16_t>(result | ((source >> 16) & 0x8000u));
  }
  operator float() const {
    const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fffu) << 13;
    const uint32_t scaled = float_to_bits(bits_to_float(magnitude) * 0x1p112f);  // the exponent's bias; subnormals too
    const uint32_t result = magnitude >= 0x0f800000u ? scaled | 0x7f800000u : scaled;
    return bits_to_float(result | static_cast<uint32_t>(bits & 0x8000u) << 16);
  }
};

struct Bool {
  uint8_t byte;
  operator uint8_t() const { return byte != 0; }
};

constexpr bool is_float(Tensor::Type type) {
  return type == Tensor::Type::FLOAT || type == Tensor::Type::DOUBLE || type == Tensor::Type::HALF ||
         type == Tensor::Type::BFLOAT16;
}
// What the emulation computes with; QINT8 and the FP8 types are only described.
constexpr bool is_number(Tensor::Type type) { return static_cast<int>(type) < static_cast<int>(Tensor::Type::QINT8); }

inline int64_t size_of(Tensor::Type type) {
  switch (type) {
    case Tensor::Type::DOUBLE: case Tensor::Type::INT64: case Tensor::Type::UINT64: return 8;
    case Tensor::Type::FLOAT: case Tensor::Type::INT32: return 4;
    case Tensor::Type::HALF: case Tensor::Type::BFLOAT16: case Tensor::Type::INT16: return 2;
    default: return 1;
  }
}

// Calls visit(Element{}) with the C++ type of the elements; for is_number types only.
template <class Visit>
decltype(auto) with_element(Tensor::Type type, Visit&& visit) {
  switch (type) {
    case Tensor::Type::FLOAT: return visit(float{});
    case Tensor::Type::DOUBLE: return visit(double{});
    case Tensor::Type::HALF: return visit(Half{});
    case Tensor::Type::BFLOAT16: return visit(BFloat16{});
    case Tensor::Type::INT64: return visit(int64_t{});
    case Tensor::Type::INT32: return visit(int32_t{});
    case Tensor::Type::INT16: return visit(int16_t{});
    case Tensor::Type::INT8: return visit(int8_t{});
    case Tensor::Type::UINT8: return visit(uint8_t{});
    case Tensor::Type::UINT64: return visit(uint64_t{});
    default: return visit(Bool{});
  }
}

// Calls visit(Compute{}): half types compute in float, short integers in int64, whose low bits are their arithmetic.
template <class Visit>
decltype(auto) with_compute(Tensor::Type type, Visit&& visit) {
  switch (type) {
    case Tensor::Type::FLOAT: case Tensor::Type::HALF: case Tensor::Type::BFLOAT16: return visit(float{});
    case Tensor::Type::DOUBLE: return visit(double{});
    case Tensor::Type::UINT64: return visit(uint64_t{});
    default: return visit(int64_t{});
  }
}

// A conversion without undefined behaviour: floats out of int64's range (and NaN) give its minimum, as the CPU's does.
template <class To, class From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != From(0))};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, uint64_t>)
      if (value >= From(0x1p63) && value < From(0x1p64)) return static_cast<uint64_t>(value);
    if (!(value >= From(-0x1p63) && value < From(0x1p63))) return static_cast<To>(std::numeric_limits<int64_t>::min());
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace musa::dnn::emulation
