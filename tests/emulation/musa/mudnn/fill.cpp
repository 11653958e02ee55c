// SPDX-License-Identifier: Apache-2.0
#include "run.h"
#include "scalar.h"

namespace musa::dnn {

Status Fill::SetValue(double value) {
  value_ = emulation::scalar(value);
  return Status::SUCCESS;
}
Status Fill::SetValue(int64_t value) {
  value_ = emulation::scalar(value);
  return Status::SUCCESS;
}

Status Fill::Run(Handle& handle, Tensor& self_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Fill", [&](class Run& call) {
    const View self = call.view(self_tensor, "self");
    call.launch([=, value = value_] {
      with_compute(self.type, [&](auto tag) {
        using T = decltype(tag);
        T strip[kStrip];
        const bool real = self.type == Tensor::Type::BOOL;  // 0.5 is true
        std::fill_n(strip, kStrip, real ? T(value.real != 0) : as<T>(value));
        Loop<1>({self}).each([&](const auto& at, const auto& strides, int64_t count) {
          for (int64_t first = 0; first < count; first += kStrip)
            store(self.type, at[0] + first * strides[0] * self.element_bytes(), strides[0], strip, std::min(kStrip, count - first));
        });
      });
    });
  });
}

Status Fill::Run(Handle& handle, Tensor& self_tensor, const Tensor& mask_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Fill", [&](class Run& call) {
    const View self = call.view(self_tensor, "self"), mask = call.view(mask_tensor, "mask");
    require(self.same_sizes(mask), "self and mask differ in their sizes");
    require_type(mask, Tensor::Type::BOOL, "the mask is BOOL");
    call.launch([=, value = value_] {
      with_element(self.type, [&](auto tag) {
        using Element = decltype(tag);
        Element element{};
        with_compute(self.type, [&](auto compute) {
          using T = decltype(compute);
          element = convert<Element>(self.type == Tensor::Type::BOOL ? T(value.real != 0) : as<T>(value));
        });
        Loop<2>({self, mask}).each([&](const auto& at, const auto& strides, int64_t count) {
          auto* to = reinterpret_cast<Element*>(at[0]);
          const auto* chosen = reinterpret_cast<const uint8_t*>(at[1]);
          for (int64_t i = 0; i < count; ++i)
            if (chosen[i * strides[1]]) to[i * strides[0]] = element;
        });
      });
    });
  });
}

}  // namespace musa::dnn
