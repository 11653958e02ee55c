// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two numbers that unary (scalar operand) and binary operators share. Integers wrap, and nothing traps:
// a division by zero gives -1 and its remainder the dividend, as graphics cards do (guess).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace musa::dnn::emulation {

template <class T>
constexpr bool kReal = std::is_floating_point_v<T>;

template <class T>
T add(T a, T b) {
  if constexpr (kReal<T>) return a + b;
  else return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
T subtract(T a, T b) {
  if constexpr (kReal<T>) return a - b;
  else return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <class T>
T multiply(T a, T b) {
  if constexpr (kReal<T>) return a * b;
  else return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T>
bool overflows(T a, T b) {  // the one quotient of int64 that int64 cannot hold
  if constexpr (std::is_signed_v<T>) return b == T(-1) && a == std::numeric_limits<T>::min();
  else return false;
}

template <class T>
T divide_truncated(T a, T b) {
  if constexpr (kReal<T>) return std::trunc(a / b);
  else return b == 0 ? static_cast<T>(-1) : overflows(a, b) ? a : a / b;
}
template <class T>
T modulo_truncated(T a, T b) {  // the sign of the dividend
  if constexpr (kReal<T>) return std::fmod(a, b);
  else return b == 0 ? a : overflows(a, b) ? 0 : a % b;
}
template <class T>
T modulo_floored(T a, T b) {  // the sign of the divisor, as Python's %
  const T rest = modulo_truncated(a, b);
  if constexpr (!kReal<T> && std::is_unsigned_v<T>) return rest;
  else return rest != 0 && b != 0 && ((b < 0) != (rest < 0)) ? add(rest, b) : rest;
}
template <class T>
T divide_floored(T a, T b) {  // as Python's //: for reals of the exact quotient, not of its rounded value
  if constexpr (kReal<T>) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T floor = std::floor(quotient);
    return quotient - floor > T(0.5) ? floor + 1 : floor;
  } else {
    const T quotient = divide_truncated(a, b);
    if constexpr (std::is_unsigned_v<T>) return quotient;
    else return b != 0 && modulo_truncated(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  }
}

template <class T>
T power(T base, T exponent) {
  if constexpr (kReal<T>) {
    return std::pow(base, exponent);
  } else {
    if constexpr (std::is_signed_v<T>)
      if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1;
    for (uint64_t square = static_cast<uint64_t>(base), rest = static_cast<uint64_t>(exponent); rest; rest >>= 1, square *= square)
      if (rest & 1) result *= square;
    return static_cast<T>(result);
  }
}

template <class T>
T maximum(T a, T b) {  // NaN wins
  return a != a || a > b ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return a != a || a < b ? a : b;
}

template <class T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
template <class T>
T normal_cdf(T x) {
  return T(0.5) * (T(1) + std::erf(x * T(0.70710678118654752440)));
}
// The argument of tanh in GELU's approximation (Hendrycks and Gimpel), sqrt(2 / pi) * (x + 0.044715 x^3).
template <class T>
constexpr T kGeluSlope = T(0.79788456080286535588);
template <class T>
T gelu_inner(T x) {
  return kGeluSlope<T> * (x + T(0.044715) * x * x * x);
}

}  // namespace musa::dnn::emulation
