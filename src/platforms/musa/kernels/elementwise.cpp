// SPDX-License-Identifier: Apache-2.0
#include <ATen/OpMathType.h>

#include "pointwise.h"

#include <cmath>

namespace torch_fl::mudnn {
namespace {

using at::Scalar;
using at::TensorIteratorBase;

// The mode that takes the second operand as a number, or the first one with the operands exchanged.
std::optional<UnaryMode> with_number(BinaryMode mode, bool exchanged) {
  switch (mode) {
    case BinaryMode::ADD: return UnaryMode::ADD;
    case BinaryMode::MUL: return UnaryMode::MUL;
    case BinaryMode::EQ: return UnaryMode::EQ;
    case BinaryMode::NE: return UnaryMode::NE;
    case BinaryMode::LT: return exchanged ? UnaryMode::GT : UnaryMode::LT;
    case BinaryMode::LE: return exchanged ? UnaryMode::GE : UnaryMode::LE;
    case BinaryMode::GT: return exchanged ? UnaryMode::LT : UnaryMode::GT;
    case BinaryMode::GE: return exchanged ? UnaryMode::LE : UnaryMode::GE;
    default: break;
  }
  if (exchanged) return std::nullopt;
  switch (mode) {
    case BinaryMode::TRUEDIV: return UnaryMode::TRUEDIV;
    case BinaryMode::POW: return UnaryMode::POW;
    case BinaryMode::FLOORMOD: return UnaryMode::FLOORMOD;
    case BinaryMode::TRUNCATEMOD: return UnaryMode::TRUNCATEMOD;
    default: return std::nullopt;
  }
}

void binary(Pointwise& work, BinaryMode mode) {
  const auto left = work.number(0), right = work.number(1);
  if (right && !left) {
    if (const auto unary = with_number(mode, false)) return work.run(*unary, work.out(), work.in(0), right);
  } else if (left && !right) {
    if (const auto unary = with_number(mode, true)) return work.run(*unary, work.out(), work.in(1), left);
  }
  const dnn::Tensor a = work.in(0), b = work.in(1);
  work.run(mode, work.out(), a, b);
}

bool rounds(UnaryMode mode) {
  return mode == UnaryMode::FLOOR || mode == UnaryMode::CEIL || mode == UnaryMode::ROUND || mode == UnaryMode::TRUNCATEDIV;
}

// a + factor * b
void add_multiple(TensorIteratorBase& iterator, const Scalar& factor) {
  Pointwise work(iterator);
  if (work.empty()) return;
  work.refuse_bool();
  const Scalar scale = in_type(factor, work.compute());
  const bool plain = scale.equal(1);
  const auto right = work.number(1);
  if (right && !work.number(0)) {
    const Scalar sum = work.integral() ? Scalar(right->to<int64_t>() * scale.to<int64_t>())
                                       : Scalar(right->to<double>() * scale.to<double>());
    work.run(UnaryMode::ADD, work.out(), work.in(0), in_type(sum, work.compute()));
  } else if (plain) {
    binary(work, BinaryMode::ADD);
  } else {
    const dnn::Tensor a = work.in(0), b = work.in(1);
    if (scale.equal(-1)) {
      work.run(BinaryMode::SUB_ALPHA, work.out(), a, b, Scalar(1));
    } else {
      work.run(BinaryMode::ADD_ALPHA, work.out(), a, b, scale);
    }
  }
  work.finish();
}

}  // namespace

void unary(TensorIteratorBase& iterator, UnaryMode mode, const std::optional<Scalar>& alpha,
           const std::optional<Scalar>& beta) {
  Pointwise work(iterator);
  if (work.empty()) return;
  work.refuse_bool();
  auto number = [&](const std::optional<Scalar>& value) -> std::optional<Scalar> {
    if (!value) return std::nullopt;
    return in_type(*value, work.compute());
  };
  if (work.integral() && rounds(mode)) mode = UnaryMode::IDENTITY;
  work.run(mode, work.out(), work.in(0), number(alpha), number(beta));
  work.finish();
}

void binary(TensorIteratorBase& iterator, BinaryMode mode) {
  Pointwise work(iterator);
  if (work.empty()) return;
  work.refuse_bool();
  binary(work, mode);
  work.finish();
}

void comparison(TensorIteratorBase& iterator, BinaryMode mode) {
  Pointwise work(iterator, Pointwise::Result::boolean);
  if (work.empty()) return;
  binary(work, mode);
  work.finish();
}

void logical(TensorIteratorBase& iterator, BinaryMode mode) {
  Pointwise work(iterator, Pointwise::Result::boolean);
  if (work.empty()) return;
  const dnn::Tensor a = work.in(0), b = work.in(1);
  work.run(mode, work.out(), a, b);
  work.finish();
}

void quotient(TensorIteratorBase& iterator, BinaryMode mode) {
  Pointwise work(iterator);
  if (work.empty()) return;
  work.refuse_bool();
  if (work.integral()) {
    const auto divisor = work.number(1);
    if (!divisor || divisor->equal(0)) throw Decline("a divisor among integers that may be 0");
  }
  binary(work, mode);
  work.finish();
}

void add(TensorIteratorBase& iterator, const Scalar& alpha) { add_multiple(iterator, alpha); }
void subtract(TensorIteratorBase& iterator, const Scalar& alpha) {
  if (alpha.isComplex()) throw Decline("a complex factor");
  add_multiple(iterator, -alpha);
}

void divide(TensorIteratorBase& iterator, std::optional<std::string_view> rounding) {
  if (!rounding) return binary(iterator, BinaryMode::TRUEDIV);
  if (*rounding == "floor") return quotient(iterator, BinaryMode::FLOORDIV);
  Pointwise work(iterator);
  if (work.empty()) return;
  if (work.integral()) throw Decline("mudnn cuts no integer quotient of two tensors towards zero");
  work.refuse_bool();
  const dnn::Tensor a = work.in(0), b = work.in(1);
  dnn::Tensor exact = work.temporary();
  work.run(BinaryMode::TRUEDIV, exact, a, b);
  work.run(UnaryMode::TRUNCATEDIV, work.out(), exact, Scalar(1.0));
  work.finish();
}

void negate(TensorIteratorBase& iterator) { unary(iterator, UnaryMode::MUL, Scalar(-1)); }

void interpolate(TensorIteratorBase& iterator, const Scalar& weight) {
  Pointwise work(iterator);
  if (work.empty()) return;
  if (weight.isComplex() || work.integral()) throw Decline("an interpolation that is not of real numbers");
  const double w = weight.to<double>();
  const dnn::Tensor self = work.in(0), end = work.in(1);
  dnn::Tensor way = work.temporary();
  work.run(BinaryMode::SUB_ALPHA, way, end, self, Scalar(1.0));
  if (std::abs(w) < 0.5) {
    work.run(BinaryMode::ADD_ALPHA, work.out(), self, way, Scalar(w));
  } else {
    work.run(BinaryMode::SUB_ALPHA, work.out(), end, way, Scalar(1 - w));
  }
  work.finish();
}

void expm1(TensorIteratorBase& iterator) {
  // tanh(x / 2) (exp(x) + 1): a power near 1 has lost what the difference needs.
  Pointwise work(iterator, at::toOpMathType(iterator.common_dtype()));
  if (work.empty()) return;
  const dnn::Tensor x = work.in(0);
  dnn::Tensor power = work.temporary(), half = work.temporary();
  work.run(UnaryMode::EXP, power, x);
  work.run(UnaryMode::ADD, power, power, Scalar(1.0));
  work.run(UnaryMode::MUL, half, x, Scalar(0.5));
  work.run(UnaryMode::TANH, half, half);
  work.run(BinaryMode::MUL, work.out(), half, power);
  work.finish();
}

void backward(TensorIteratorBase& iterator, BinaryMode mode, const std::optional<Scalar>& alpha) {
  Pointwise work(iterator);
  if (work.empty()) return;
  if (work.integral()) throw Decline("gradients of integers");
  work.refuse_bool();
  const dnn::Tensor gradient = work.in(0), saved = work.in(1);
  work.run(mode, work.out(), gradient, saved, alpha);
  work.finish();
}

void ternary(TensorIteratorBase& iterator, TernaryMode mode, const Scalar& alpha) {
  Pointwise work(iterator);
  if (work.empty()) return;
  work.refuse_bool();
  const dnn::Tensor a = work.in(0), b = work.in(1), c = work.in(2);
  work.run(mode, work.out(), a, b, c, in_type(alpha, work.compute()));
  work.finish();
}

}  // namespace torch_fl::mudnn
