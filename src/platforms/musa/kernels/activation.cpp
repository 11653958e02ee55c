// SPDX-License-Identifier: Apache-2.0
#include "bodies.h"

#include <ATen/native/Activation.h>

namespace torch_fl::mudnn {

bool is_tanh(std::string_view approximate) {
  return at::native::get_gelutype_enum(approximate) == at::native::GeluType::Tanh;
}

void elu(at::TensorIteratorBase& op, const at::Scalar& alpha, const at::Scalar& scale, const at::Scalar& input_scale) {
  if (!scale.equal(1) || !input_scale.equal(1)) throw Decline("mudnn's ELU has no scales");
  unary(op, UnaryMode::ELU, alpha);
}

void leaky_relu_backward(at::TensorIteratorBase& op, const at::Scalar& slope) {
  // The iterator's inputs are self, gradient: PyTorch's order here.
  Pointwise work(op);
  if (work.empty()) return;
  const dnn::Tensor self = work.in(0), gradient = work.in(1);
  work.run(BinaryMode::LEAKY_RELU_BW, work.out(), gradient, self, in_type(slope, work.compute()));
  work.finish();
}

void threshold_backward(at::TensorIteratorBase& op, const at::Scalar& threshold) {
  // The iterator's inputs are self, gradient, as in threshold itself.
  Pointwise work(op);
  if (work.empty()) return;
  work.refuse_bool();
  const dnn::Tensor self = work.in(0), gradient = work.in(1);
  work.run(BinaryMode::THRESHOLD_BW, work.out(), gradient, self, in_type(threshold, work.compute()));
  work.finish();
}

}  // namespace torch_fl::mudnn
