// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"
#include "run.h"
#include "scalar.h"

namespace musa::dnn {
namespace emulation {
namespace {

// Moves bytes, so that any element type keeps its bits.
void select(const View& out, const View& condition, const View& yes, const View& no) {
  Loop<4>({out, condition, yes, no}).each([&](const auto& at, const auto& strides, int64_t count) {
    const auto move = [&](auto tag) {
      using Word = decltype(tag);
      const auto* chosen = reinterpret_cast<const uint8_t*>(at[1]);
      const Word* a = reinterpret_cast<const Word*>(at[2]);
      const Word* b = reinterpret_cast<const Word*>(at[3]);
      Word* to = reinterpret_cast<Word*>(at[0]);
      for (int64_t i = 0; i < count; ++i)
        to[i * strides[0]] = chosen[i * strides[1]] ? a[i * strides[2]] : b[i * strides[3]];
    };
    switch (out.element_bytes()) {
      case 8: return move(uint64_t{});
      case 4: return move(uint32_t{});
      case 2: return move(uint16_t{});
      default: return move(uint8_t{});
    }
  });
}

}  // namespace
}  // namespace emulation

Status Ternary::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}
Status Ternary::SetAlpha(double alpha) {
  alpha_ = emulation::scalar(alpha);
  return Status::SUCCESS;
}
Status Ternary::SetAlpha(int64_t alpha) {
  alpha_ = emulation::scalar(alpha);
  return Status::SUCCESS;
}

Status Ternary::Run(Handle& handle, Tensor& out_tensor, const Tensor& a_tensor, const Tensor& b_tensor,
                    const Tensor& c_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Ternary", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), a = call.view(a_tensor, "a"), b = call.view(b_tensor, "b"),
               c = call.view(c_tensor, "c");
    require(out.same_sizes(a) && out.same_sizes(b) && out.same_sizes(c), "out, a, b and c differ in their sizes");
    require(out.type == b.type && b.type == c.type, "out, b and c differ in their types", Status::NOT_SUPPORTED);
    if (mode_ == Mode::SELECT) {
      require_type(a, Tensor::Type::BOOL, "the condition of SELECT is BOOL");
      return call.launch([=] { select(out, a, b, c); });
    }
    require_type(a, out.type, "out and a differ in their types");
    require(a.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
    if (mode_ == Mode::ADDCDIV_ALPHA) require_float(a);
    call.launch([=, mode = mode_, alpha = alpha_] {
      with_compute(a.type, [&](auto tag) {
        using T = decltype(tag);
        const T factor = as<T>(alpha);
        if (mode == Mode::ADDCMUL_ALPHA)
          return map<T, T>(out, a, b, c, [=](T x, T y, T z) { return add(x, multiply(multiply(factor, y), z)); });
        if constexpr (kReal<T>) map<T, T>(out, a, b, c, [=](T x, T y, T z) { return x + factor * y / z; });
      });
    });
  });
}

}  // namespace musa::dnn
