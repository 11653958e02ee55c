// SPDX-License-Identifier: Apache-2.0
#include "decode.h"

#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_left_shift.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/stack.h>

namespace torch_fl::low_precision {
namespace {

// PyTorch's c10/util/Float4_e2m1fn_x2.h: the first value is the low half of the byte, `seem` in each half. Moved to the bits
// `s..eem..` of an E4M3 number, whose exponent is biased by 7 instead of 1, a half means 1/64 of itself, subnormals too.
at::Tensor decode_pairs(const at::Tensor& packed) {
  const at::Tensor bytes = packed.view(at::kByte);
  const at::Tensor first = at::bitwise_or(at::bitwise_left_shift(at::bitwise_and(bytes, 0x08), 4),
                                          at::bitwise_left_shift(at::bitwise_and(bytes, 0x07), 2));
  const at::Tensor second = at::bitwise_or(at::bitwise_and(bytes, 0x80), at::bitwise_right_shift(at::bitwise_and(bytes, 0x70), 2));
  const at::Tensor codes = at::stack({first, second}, -1).flatten(-2);
  return codes.view(at::kFloat8_e4m3fn).to(at::kBFloat16).mul_(64);
}

}  // namespace

at::Tensor decode(const at::Tensor& tensor, int64_t packed) {
  if (!is_low(tensor.scalar_type())) return tensor;
  if (!is_packed(tensor.scalar_type())) return tensor.to(at::kBFloat16);
  return packed == -1 ? decode_pairs(tensor) : decode_pairs(tensor.transpose(-2, -1)).transpose(-2, -1);
}

}  // namespace torch_fl::low_precision
