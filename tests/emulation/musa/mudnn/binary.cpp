// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"
#include "run.h"
#include "scalar.h"

namespace musa::dnn {
namespace emulation {
namespace {

using Mode = Binary::Mode;

template <class T>
bool test(Mode mode, const View& out, const View& a, const View& b) {
  const auto is = [&](auto condition) { return map<uint8_t, T>(out, a, b, condition), true; };
  switch (mode) {
    case Mode::EQ: return is([](T x, T y) { return x == y; });
    case Mode::NE: return is([](T x, T y) { return x != y; });
    case Mode::LT: return is([](T x, T y) { return x < y; });
    case Mode::LE: return is([](T x, T y) { return x <= y; });
    case Mode::GT: return is([](T x, T y) { return x > y; });
    case Mode::GE: return is([](T x, T y) { return x >= y; });
    case Mode::LOGICAL_AND: return is([](T x, T y) { return (x != 0) & (y != 0); });
    case Mode::LOGICAL_OR: return is([](T x, T y) { return (x != 0) | (y != 0); });
    case Mode::LOGICAL_XOR: return is([](T x, T y) { return (x != 0) != (y != 0); });
    default: return false;
  }
}

template <class T>
bool arithmetic(Mode mode, T alpha, const View& out, const View& a, const View& b) {
  const auto is = [&](auto function) { return map<T, T>(out, a, b, function), true; };
  switch (mode) {
    case Mode::ADD: return is([](T x, T y) { return add(x, y); });
    case Mode::ADD_ALPHA: return is([=](T x, T y) { return add(x, multiply(alpha, y)); });
    case Mode::SUB_ALPHA: return is([=](T x, T y) { return subtract(x, multiply(alpha, y)); });
    case Mode::MUL: return is([](T x, T y) { return multiply(x, y); });
    case Mode::FLOORDIV: return is([](T x, T y) { return divide_floored(x, y); });
    case Mode::FLOORMOD: return is([](T x, T y) { return modulo_floored(x, y); });
    case Mode::TRUNCATEMOD: return is([](T x, T y) { return modulo_truncated(x, y); });
    case Mode::POW: return is([](T x, T y) { return power(x, y); });
    case Mode::MAX: return is([](T x, T y) { return maximum(x, y); });
    case Mode::MIN: return is([](T x, T y) { return minimum(x, y); });
    case Mode::THRESHOLD_BW: return is([=](T gradient, T x) { return x <= alpha ? T(0) : gradient; });
    default: return false;
  }
}

// Gradients: g is that of the output.
template <class T>
void derivative(Mode mode, T alpha, const View& out, const View& a, const View& b) {
  const auto is = [&](auto function) { map<T, T>(out, a, b, function); };
  switch (mode) {
    case Mode::TRUEDIV: return is([](T x, T y) { return x / y; });
    case Mode::GELU_NONE_BW:  // the density of the normal distribution has the factor 1 / sqrt(2 pi)
      return is([](T g, T x) { return g * (normal_cdf(x) + x * T(0.39894228040143267794) * std::exp(T(-0.5) * x * x)); });
    case Mode::GELU_TANH_BW:
      return is([](T g, T x) {
        const T t = std::tanh(gelu_inner(x));
        const T inner = kGeluSlope<T> * (T(1) + T(3) * T(0.044715) * x * x);
        return g * T(0.5) * (T(1) + t + x * (T(1) - t * t) * inner);
      });
    case Mode::LEAKY_RELU_BW: return is([=](T g, T x) { return x > 0 ? g : g * alpha; });
    case Mode::SIGMOID_BW: return is([](T g, T y) { return g * (T(1) - y) * y; });
    case Mode::SILU_BW:
      return is([](T g, T x) {
        const T s = sigmoid(x);
        return g * s * (T(1) + x * (T(1) - s));
      });
    default: return is([](T g, T y) { return g * (T(1) - y * y); });  // TANH_BW
  }
}

bool is_test(Mode mode) { return mode >= Mode::EQ && mode <= Mode::LOGICAL_XOR; }
bool for_floats(Mode mode) {
  return mode == Mode::TRUEDIV || (mode >= Mode::GELU_NONE_BW && mode <= Mode::TANH_BW);
}

}  // namespace
}  // namespace emulation

Status Binary::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}
Status Binary::SetAlpha(double alpha) {
  alpha_ = emulation::scalar(alpha);
  return Status::SUCCESS;
}
Status Binary::SetAlpha(int64_t alpha) {
  alpha_ = emulation::scalar(alpha);
  return Status::SUCCESS;
}
Status Binary::SetBeta(double beta) {
  beta_ = emulation::scalar(beta);
  return Status::SUCCESS;
}
Status Binary::SetBeta(int64_t beta) {
  beta_ = emulation::scalar(beta);
  return Status::SUCCESS;
}

Status Binary::Run(Handle& handle, Tensor& out_tensor, const Tensor& a_tensor, const Tensor& b_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Binary", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), a = call.view(a_tensor, "a"), b = call.view(b_tensor, "b");
    require(out.same_sizes(a) && out.same_sizes(b), "out, a and b differ in their sizes");
    require_type(a, b.type, "a and b differ in their types");
    if (is_test(mode_)) {
      require_type(out, Tensor::Type::BOOL, "a test gives BOOL");
    } else {
      require_type(out, a.type, "out and its operands differ in their types");
      require(a.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
      if (for_floats(mode_)) require_float(a);
    }
    call.launch([=, mode = mode_, alpha = alpha_] {
      with_compute(a.type, [&](auto tag) {
        using T = decltype(tag);
        if (test<T>(mode, out, a, b) || arithmetic<T>(mode, as<T>(alpha), out, a, b)) return;
        if constexpr (kReal<T>) derivative<T>(mode, as<T>(alpha), out, a, b);
      });
    });
  });
}

}  // namespace musa::dnn
