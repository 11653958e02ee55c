// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"
#include "run.h"
#include "scalar.h"

namespace musa::dnn {
namespace emulation {
namespace {

using Mode = Unary::Mode;

template <class T>
void compare(Mode mode, T alpha, const View& out, const View& in) {
  const auto test = [&](auto condition) { map<uint8_t, T>(out, in, condition); };
  switch (mode) {
    case Mode::EQ: return test([=](T x) { return x == alpha; });
    case Mode::NE: return test([=](T x) { return x != alpha; });
    case Mode::LT: return test([=](T x) { return x < alpha; });
    case Mode::LE: return test([=](T x) { return x <= alpha; });
    case Mode::GT: return test([=](T x) { return x > alpha; });
    case Mode::GE: return test([=](T x) { return x >= alpha; });
    case Mode::IS_NAN: return test([](T x) { return x != x; });
    default: return test([](T x) { if constexpr (kReal<T>) return std::isinf(x); else return false; });
  }
}

// Modes for every number.
template <class T>
bool arithmetic(Mode mode, T alpha, T beta, const View& out, const View& in) {
  const auto is = [&](auto function) { return map<T, T>(out, in, function), true; };
  switch (mode) {
    case Mode::ABS:
      return is([](T x) { if constexpr (kReal<T>) return std::fabs(x); else return x < T(0) ? subtract(T(0), x) : x; });
    case Mode::ADD: return is([=](T x) { return add(x, alpha); });
    case Mode::SUB: return is([=](T x) { return subtract(x, alpha); });
    case Mode::MUL: return is([=](T x) { return multiply(x, alpha); });
    case Mode::POW: return is([=](T x) { return power(x, alpha); });
    case Mode::FLOORMOD: return is([=](T x) { return modulo_floored(x, alpha); });
    case Mode::TRUNCATEMOD: return is([=](T x) { return modulo_truncated(x, alpha); });
    case Mode::TRUNCATEDIV: return is([=](T x) { return divide_truncated(x, alpha); });
    case Mode::CLIP:  // NaN bounds make everything NaN
      return is([=](T x) { return x != x ? x : minimum(maximum(x, alpha), beta); });
    case Mode::SIGN: return is([](T x) { return static_cast<T>((x > T(0)) - (x < T(0))); });
    case Mode::RELU: return is([](T x) { return x <= T(0) ? T(0) : x; });
    default: return false;
  }
}

// Modes for floating-point numbers.
template <class T>
void transcendental(Mode mode, T alpha, T beta, const View& out, const View& in) {
  const auto is = [&](auto function) { map<T, T>(out, in, function); };
  switch (mode) {
    case Mode::ACOS: return is([](T x) { return std::acos(x); });
    case Mode::ATAN: return is([](T x) { return std::atan(x); });
    case Mode::CEIL: return is([](T x) { return std::ceil(x); });
    case Mode::COS: return is([](T x) { return std::cos(x); });
    case Mode::ELU: return is([=](T x) { return x <= 0 ? alpha * std::expm1(x) : x; });
    case Mode::ERF: return is([](T x) { return std::erf(x); });
    case Mode::EXP: return is([](T x) { return std::exp(x); });
    case Mode::FLOOR: return is([](T x) { return std::floor(x); });
    case Mode::GELU: return is([](T x) { return x * normal_cdf(x); });
    case Mode::GELU_TANH: return is([](T x) { return T(0.5) * x * (T(1) + std::tanh(gelu_inner(x))); });
    case Mode::HARDSIGMOID: return is([](T x) { return minimum(maximum(x + T(3), T(0)), T(6)) / T(6); });
    case Mode::HARDSWISH: return is([](T x) { return x * minimum(maximum(x + T(3), T(0)), T(6)) / T(6); });
    case Mode::LEAKY_RELU: return is([=](T x) { return x > 0 ? x : x * alpha; });
    case Mode::LOG: return is([](T x) { return std::log(x); });
    case Mode::LOG10: return is([](T x) { return std::log10(x); });
    case Mode::LOG1P: return is([](T x) { return std::log1p(x); });
    case Mode::LOG2: return is([](T x) { return std::log2(x); });
    case Mode::MISH: return is([](T x) { return x * std::tanh(std::log1p(std::exp(x))); });
    case Mode::RECIPROCAL: return is([](T x) { return T(1) / x; });
    case Mode::ROUND: return is([](T x) { return std::nearbyint(x); });  // halves to even
    case Mode::RSQRT: return is([](T x) { return T(1) / std::sqrt(x); });
    case Mode::SIGMOID: return is([](T x) { return sigmoid(x); });
    case Mode::SILU: return is([](T x) { return x / (T(1) + std::exp(-x)); });
    case Mode::SIN: return is([](T x) { return std::sin(x); });
    case Mode::SOFTPLUS: return is([=](T x) { return x * alpha > beta ? x : std::log1p(std::exp(x * alpha)) / alpha; });
    case Mode::SQRT: return is([](T x) { return std::sqrt(x); });
    case Mode::TAN: return is([](T x) { return std::tan(x); });
    case Mode::TANH: return is([](T x) { return std::tanh(x); });
    default: return is([=](T x) { return x / alpha; });  // TRUEDIV
  }
}

bool is_test(Mode mode) {
  switch (mode) {
    case Mode::EQ: case Mode::NE: case Mode::LT: case Mode::LE: case Mode::GT: case Mode::GE: case Mode::IS_INF: case Mode::IS_NAN:
      return true;
    default: return false;
  }
}

bool for_integers(Mode mode) {
  switch (mode) {
    case Mode::ABS: case Mode::ADD: case Mode::SUB: case Mode::MUL: case Mode::POW: case Mode::FLOORMOD: case Mode::TRUNCATEMOD:
    case Mode::TRUNCATEDIV: case Mode::CLIP: case Mode::SIGN: case Mode::RELU:
      return true;
    default: return false;
  }
}

template <class T>
void compute(Mode mode, const Scalar& alpha, const Scalar& beta, const View& out, const View& in) {
  const T a = as<T>(alpha), b = as<T>(beta);
  if (is_test(mode)) return compare(mode, a, out, in);
  if (arithmetic(mode, a, b, out, in)) return;
  if constexpr (kReal<T>) transcendental(mode, a, b, out, in);
}

}  // namespace
}  // namespace emulation

Status Unary::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}
Status Unary::SetAlpha(double alpha) {
  alpha_ = emulation::scalar(alpha);
  return Status::SUCCESS;
}
Status Unary::SetAlpha(int64_t alpha) {
  alpha_ = emulation::scalar(alpha);
  return Status::SUCCESS;
}
Status Unary::SetBeta(double beta) {
  beta_ = emulation::scalar(beta);
  return Status::SUCCESS;
}
Status Unary::SetBeta(int64_t beta) {
  beta_ = emulation::scalar(beta);
  return Status::SUCCESS;
}

Status Unary::Run(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Unary", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), in = call.view(in_tensor, "in");
    require(out.same_sizes(in), "out and in differ in their sizes");
    if (mode_ == Mode::IDENTITY || mode_ == Mode::CAST) {
      if (mode_ == Mode::IDENTITY) require_type(out, in.type, "IDENTITY does not convert: CAST does");
      return call.launch([=] { copy(out, in); });
    }
    if (is_test(mode_)) {
      require_type(out, Tensor::Type::BOOL, "a test gives BOOL");
    } else {
      require_type(out, in.type, "out and in differ in their types");
      require(in.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
      if (!for_integers(mode_)) require_float(in);
    }
    call.launch([=, mode = mode_, alpha = alpha_, beta = beta_] {
      with_compute(in.type, [&](auto tag) { compute<decltype(tag)>(mode, alpha, beta, out, in); });
    });
  });
}

}  // namespace musa::dnn
