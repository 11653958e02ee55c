// SPDX-License-Identifier: Apache-2.0
// Reductions that PyTorch has not structured: variance, the extremum of everything, dot.
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/prod.h>

#include <cmath>

#include "bodies.h"
#include "kernels.h"

namespace torch_fl::mudnn {
namespace {

using at::Scalar;
using at::Tensor;
using Number = std::optional<Scalar>;

Tensor spread(const Tensor& self, Dims dims, const Number& correction, bool keepdim, ReduceMode mode) {
  type_of(self.scalar_type());
  if (!at::isFloatingType(self.scalar_type())) throw Decline("the variance of integers");
  const double less = correction ? correction->to<double>() : 1;
  if (less != std::floor(less) || less < 0) throw Decline("a correction that is no count");
  const auto mask = at::native::make_dim_mask(dims, self.dim());
  const Tensor out = at::empty(at::native::shape_from_dim_mask(self, mask, keepdim), self.options());
  const int64_t count = self.numel() / std::max<int64_t>(out.numel(), 1);
  if (out.numel() == 0 || static_cast<double>(count) <= less) throw Decline("fewer numbers than the correction takes away");
  reduce_spread(out, self, dims, mode, static_cast<int>(less));
  return out;
}

Tensor var(const Tensor& self, Dims dims, const Number& correction, bool keepdim) {
  return spread(self, dims, correction, keepdim, ReduceMode::VARIANCE);
}
Tensor standard_deviation(const Tensor& self, Dims dims, const Number& correction, bool keepdim) {
  return spread(self, dims, correction, keepdim, ReduceMode::STD);
}

void refuse_empty(const Tensor& self) {
  if (self.numel() == 0) throw Decline("a reduction of an empty tensor");
}

Tensor max(const Tensor& self) {
  refuse_empty(self);
  return at::amax(self);
}
Tensor min(const Tensor& self) {
  refuse_empty(self);
  return at::amin(self);
}

Tensor prod(const Tensor& self, std::optional<at::ScalarType> dtype) {
  const auto wanted = dtype.value_or(at::isIntegralType(self.scalar_type(), true) ? at::kLong : self.scalar_type());
  const Tensor out = at::empty({}, self.options().dtype(wanted));
  reduce_over(out, self, std::nullopt, ReduceMode::PROD);
  return out;
}

Tensor norm(const Tensor& self, const Number& p, at::IntArrayRef dim, bool keepdim) {
  if (self.layout() != c10::kStrided) throw Decline("a tensor that is not strided");
  return at::linalg_vector_norm(self, p.value_or(2), dim, keepdim);
}

Tensor dot(const Tensor& self, const Tensor& other) {
  if (self.dim() != 1 || other.dim() != 1 || self.numel() != other.numel() || self.scalar_type() != other.scalar_type() ||
      self.device() != other.device())
    throw Decline("vectors that do not fit");
  type_of(self.scalar_type());
  return at::mm(self.unsqueeze(0), other.unsqueeze(1)).reshape(at::IntArrayRef());
}

}  // namespace

void add_statistics(KernelTable& table) {
  table.add<"var.correction", &var>(kMayDecline);
  table.add<"std.correction", &standard_deviation>(kMayDecline);
  table.add<"max", &max>(kMayDecline);
  table.add<"min", &min>(kMayDecline);
  table.add<"prod", &prod>(kMayDecline);
  table.add<"norm.ScalarOpt_dim", &norm>(kMayDecline);
  table.add<"dot", &dot>(kMayDecline);
}

}  // namespace torch_fl::mudnn
