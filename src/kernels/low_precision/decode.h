// SPDX-License-Identifier: Apache-2.0
// decode.h: the numbers that FP8 and packed FP4 tensors stand for, as BF16, which holds all of them exactly.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace torch_fl::low_precision {

constexpr bool is_low(c10::ScalarType type) {
  using enum c10::ScalarType;
  return type == Float8_e4m3fn || type == Float8_e5m2 || type == Float8_e4m3fnuz || type == Float8_e5m2fnuz ||
         type == Float8_e8m0fnu || type == Float4_e2m1fn_x2;
}

// Two values a byte.
constexpr bool is_packed(c10::ScalarType type) { return type == c10::ScalarType::Float4_e2m1fn_x2; }

// Computed on the tensor's device. Packed values lie side by side in dimension `packed` (-1 or -2), which doubles; where the
// type is not low, the tensor itself.
at::Tensor decode(const at::Tensor& tensor, int64_t packed = -1);

}  // namespace torch_fl::low_precision
