// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <flagos_runtime.h>

#include "descriptor.h"
#include "kernels.h"

namespace torch_fl::mudnn {
namespace {

using at::Tensor;

void refuse(const Tensor& tensor) {
  type_of(tensor.scalar_type());
  if (!at::isFloatingType(tensor.scalar_type())) throw Decline("dropout of integers");
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  refuse(input);
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  const auto boolean = input.options().dtype(at::kBool);
  if (input.numel() == 0) return {input, at::empty_like(input, boolean)};
  if (!train.value_or(true)) return {input.clone(), at::ones_like(input, boolean)};
  Session session(input);
  Tensor output = at::empty_like(input), mask = at::empty_like(input, boolean);
  dnn::Dropout operation;
  check(operation.SetP(p), "Dropout::SetP");
  check(operation.SetScale(p == 1 ? 0.0 : 1.0 / (1.0 - p)), "Dropout::SetScale");
  check(operation.SetSeed(reserve_seed(std::nullopt, session.device().index(), input.numel())), "Dropout::SetSeed");
  check(operation.SetOffset(0), "Dropout::SetOffset");
  dnn::Tensor out = describe(output), kept = describe(mask);
  check(operation.RunDropout(session.handle(), out, describe(input), kept), "Dropout::RunDropout");
  return {output, mask};
}

Tensor native_dropout_backward(const Tensor& grad, const Tensor& mask, double scale) {
  refuse(grad);
  if (mask.scalar_type() != at::kBool || mask.sizes() != grad.sizes()) throw Decline("a mask of another type or shape");
  Tensor grad_input = at::empty_like(grad);
  if (grad.numel() == 0) return grad_input;
  Session session(grad);
  dnn::Dropout operation;
  check(operation.SetScale(scale), "Dropout::SetScale");
  dnn::Tensor out = describe(grad_input);
  check(operation.RunDropoutBwd(session.handle(), out, describe(grad), describe(mask)), "Dropout::RunDropoutBwd");
  return grad_input;
}

}  // namespace

void add_dropout(KernelTable& table) {
  table.add<"native_dropout", &native_dropout>(kMayDecline);
  table.add<"native_dropout_backward", &native_dropout_backward>(kMayDecline);
}

}  // namespace torch_fl::mudnn
