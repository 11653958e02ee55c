// SPDX-License-Identifier: Apache-2.0
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>

#include "bodies.h"

namespace torch_fl::mudnn {
namespace {

dnn::Softmax prepared(const at::Tensor& tensor, int64_t dim, SoftmaxMode mode) {
  dnn::Softmax operation;
  check(operation.SetMode(mode), "Softmax::SetMode");
  check(operation.SetDim(static_cast<int>(at::maybe_wrap_dim(dim, tensor.dim()))), "Softmax::SetDim");
  check(operation.SetAlgorithm(dnn::Softmax::Algorithm::ACCURATE), "Softmax::SetAlgorithm");
  return operation;
}

}  // namespace

void softmax(const at::Tensor& out, const at::Tensor& self, int64_t dim, SoftmaxMode mode) {
  type_of(self.scalar_type());
  if (!at::isFloatingType(out.scalar_type())) throw Decline("softmax of integers");
  if (out.numel() == 0) return;
  Session session(out);
  const at::Tensor input = as_dtype(session, self, out.scalar_type());  // half_to_float
  dnn::Tensor to = describe(out);
  check(prepared(out, dim, mode).Run(session.handle(), to, describe(input)), "Softmax::Run");
}

void softmax_backward(const at::Tensor& grad_input, const at::Tensor& grad, const at::Tensor& output, int64_t dim,
                      SoftmaxMode mode) {
  type_of(grad_input.scalar_type());
  type_of(grad.scalar_type());
  if (grad_input.numel() == 0) return;
  if (grad.scalar_type() != output.scalar_type()) throw Decline("a gradient of another type than the output's");
  Session session(grad_input);
  const bool same = grad_input.scalar_type() == grad.scalar_type();
  const at::Tensor computed = same ? grad_input : at::empty(grad_input.sizes(), grad.options());
  dnn::Tensor to = describe(computed);
  check(prepared(grad, dim, mode).RunBwd(session.handle(), to, describe(output), describe(grad), workspace()),
        "Softmax::RunBwd");
  if (same) return;
  dnn::Tensor final = describe(grad_input);
  copy_into(session, final, to, false);
}

}  // namespace torch_fl::mudnn
