// SPDX-License-Identifier: Apache-2.0
// Largest elements of windows. Shapes and errors are those of PyTorch's structured operator.
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d_with_indices_meta.h>

#include "descriptor.h"
#include "kernels.h"
#include "structured.h"

namespace torch_fl::mudnn {
namespace {

using at::IntArrayRef;
using at::Tensor;

std::array<int, 2> both(IntArrayRef values, IntArrayRef otherwise = {}) {
  const IntArrayRef chosen = values.empty() ? otherwise : values;
  return {static_cast<int>(chosen[0]), static_cast<int>(chosen.size() == 1 ? chosen[0] : chosen[1])};
}

dnn::Pooling windows(IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) {
  const auto k = both(kernel), s = both(stride, kernel), p = both(padding), d = both(dilation);
  dnn::Pooling operation;
  check(operation.SetMode(dnn::Pooling::Mode::MAXPOOL), "Pooling::SetMode");
  check(operation.SetNdInfo({k[0], k[1]}, {p[0], p[1]}, {s[0], s[1]}, {d[0], d[1]}), "Pooling::SetNdInfo");
  return operation;
}

void refuse(const Tensor& self) {
  type_of(self.scalar_type());
  if (!at::isFloatingType(self.scalar_type())) throw Decline("windows of integers");
  if (self.dim() != 4) throw Decline("an input without a batch");
}

std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  Structured<at::meta::structured_max_pool2d_with_indices, 2> op;
  op.meta(self, kernel, stride, padding, dilation, ceil_mode);
  refuse(self);
  const Tensor &out = op.maybe_get_output(0), &indices = op.maybe_get_output(1);
  if (out.numel() != 0) {
    Session session(self);
    dnn::Tensor to = describe(out), places = describe(indices);
    check(windows(kernel, stride, padding, dilation).Run(session.handle(), to, describe(self), places), "Pooling::Run");
  }
  return {op.finish(0), op.finish(1)};
}

Tensor max_pool2d_with_indices_backward(const Tensor& grad, const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                                        IntArrayRef padding, IntArrayRef dilation, bool /*ceil_mode*/, const Tensor& indices) {
  refuse(self);
  if (grad.scalar_type() != self.scalar_type() || grad.sizes() != indices.sizes() || self.numel() == 0)
    throw Decline("a gradient of another type or shape");
  const Tensor result = at::empty(self.sizes(), self.options());
  Session session(self);
  dnn::Tensor to = describe(result);
  check(windows(kernel, stride, padding, dilation).RunBwd(session.handle(), to, describe(grad), describe(indices)),
        "Pooling::RunBwd");
  return result;
}

}  // namespace

void add_pooling(KernelTable& table) {
  table.add<"max_pool2d_with_indices", &max_pool2d_with_indices>(kMayDecline);
  table.add<"max_pool2d_with_indices_backward", &max_pool2d_with_indices_backward>(kMayDecline);
}

}  // namespace torch_fl::mudnn
