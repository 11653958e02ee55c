// SPDX-License-Identifier: Apache-2.0
// Choosing and joining elements: where, cat, index_select, index_add and the gradient of embedding.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/cat_meta.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/zeros.h>

#include "bodies.h"
#include "kernels.h"
#include "structured.h"

namespace torch_fl::mudnn {
namespace {

using at::Tensor;

Tensor where_into(Tensor result, const Tensor& condition, const Tensor& self, const Tensor& other) {
  if (condition.scalar_type() != at::kBool) throw Decline("a condition that is not bool");
  const auto device = condition.device();
  auto fits = [&](const Tensor& branch) {
    return branch.device() == device || (branch.device().is_cpu() && branch.dim() == 0);
  };
  if (device.type() != c10::DeviceType::PrivateUse1 || !fits(self) || !fits(other)) throw Decline("operands of several devices");
  const auto dtype = result.defined() ? result.scalar_type() : at::result_type(self, other);
  type_of(dtype);
  auto like_result = [&](const Tensor& branch) {
    if (branch.device() == device && branch.scalar_type() == dtype) return branch;
    return branch.to(at::TensorOptions(device).dtype(dtype));
  };
  const Tensor a = like_result(self), b = like_result(other);
  auto iterator = at::TensorIteratorConfig()
                      .check_all_same_dtype(false)
                      .add_output(result)
                      .add_const_input(condition)
                      .add_const_input(a)
                      .add_const_input(b)
                      .declare_static_dtype_and_device(dtype, device)
                      .build();
  Pointwise work(iterator, dtype);
  if (work.empty()) return iterator.output();
  const dnn::Tensor chosen = work.in(0, at::kBool), yes = work.in(1), no = work.in(2);
  work.run(TernaryMode::SELECT, work.out(), chosen, yes, no);
  work.finish();
  return iterator.output();
}

Tensor where_self(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return where_into(Tensor(), condition, self, other);
}

Tensor& where_self_out(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  if (at::result_type(self, other) != out.scalar_type()) throw Decline("an out tensor of another type");
  where_into(out, condition, self, other);
  return out;
}

void concatenate(const Tensor& out, const at::ITensorListRef& tensors, int64_t dim) {
  type_of(out.scalar_type());
  Session session(out);
  std::vector<Tensor> kept;
  std::vector<dnn::Tensor> parts;
  for (const Tensor& tensor : tensors) {
    if (tensor.device() != out.device()) throw Decline("parts of several devices");
    if (tensor.numel() == 0) continue;
    kept.push_back(as_dtype(session, tensor, out.scalar_type()));
    parts.push_back(describe(kept.back()));
  }
  if (parts.empty()) return;
  dnn::Concat operation;
  check(operation.SetAxis(static_cast<int>(dim)), "Concat::SetAxis");
  dnn::Tensor to = describe(out);
  check(operation.Run(session.handle(), to, static_cast<int>(parts.size()), parts.data()), "Concat::Run");
}

Tensor cat(const at::ITensorListRef& tensors, int64_t dim) {
  Structured<at::meta::structured_cat> op;
  const auto plan = op.meta(tensors, dim);
  concatenate(op.maybe_get_output(), tensors, plan.dim);
  return op.finish();
}

Tensor& cat_out(const at::ITensorListRef& tensors, int64_t dim, Tensor& out) {
  Structured<at::meta::structured_cat> op(Variant::out, out);
  const auto plan = op.meta(tensors, dim);
  concatenate(op.maybe_get_output(), tensors, plan.dim);
  op.finish();
  return out;
}

bool is_index(const Tensor& index) { return index.scalar_type() == at::kLong || index.scalar_type() == at::kInt; }

Tensor& index_select_out(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  type_of(self.scalar_type());
  if (!is_index(index) || index.dim() > 1 || self.dim() == 0) throw Decline("an index of another type or rank");
  if (index.device() != self.device() || out.device() != self.device()) throw Decline("operands of several devices");
  if (out.scalar_type() != self.scalar_type()) throw Decline("an out tensor of another type");
  dim = at::maybe_wrap_dim(dim, self.dim());
  require_range(index, self.size(dim));
  at::DimVector sizes(self.sizes());
  sizes[dim] = index.numel();
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  at::native::resize_output(out, sizes);
  if (out.numel() == 0) return out;
  Session session(self);
  dnn::GatherX operation;
  check(operation.SetMode(dnn::GatherX::Mode::GATHER), "GatherX::SetMode");
  check(operation.SetAxis(static_cast<int>(dim)), "GatherX::SetAxis");
  dnn::Tensor to = describe(out);
  check(operation.Run(session.handle(), to, describe(index), describe(self)), "GatherX::Run");
  return out;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = at::empty({0}, self.options());
  return index_select_out(self, dim, index, out);
}

// Adds rows of `source` to out along `dim`.
void add_rows(Session& session, const Tensor& out, int64_t dim, const Tensor& index, const Tensor& source) {
  at::DimVector ones(out.dim(), 1);
  ones[dim] = index.numel();
  dnn::Scatter operation;
  check(operation.SetMode(ScatterMode::ADD), "Scatter::SetMode");
  dnn::Tensor to = describe(out);
  check(operation.Run(session.handle(), to, describe(index.reshape(ones).expand(source.sizes())), describe(source),
                      static_cast<int>(dim), workspace()),
        "Scatter::Run");
}

void index_add_into(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    const at::Scalar& alpha) {
  type_of(self.scalar_type());
  if (self.scalar_type() == at::kBool) throw Decline("mudnn adds numbers, not bool");
  if (!alpha.equal(1)) throw Decline("a factor");
  if (self.dim() == 0 || source.dim() != self.dim() || !is_index(index)) throw Decline("an operand of rank 0");
  require_range(index, out.size(dim));
  Session session(out);
  if (!out.is_same(self)) out.copy_(self);
  if (out.numel() == 0 || index.numel() == 0) return;
  add_rows(session, out, dim, index, source);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const at::Scalar& alpha) {
  Structured<at::meta::structured_index_add> op;
  const auto plan = op.meta(self, dim, index, source, alpha);
  index_add_into(op.maybe_get_output(), self, plan.dim, index, source, alpha);
  return op.finish();
}

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const at::Scalar& alpha) {
  Structured<at::meta::structured_index_add> op(Variant::inplace, self);
  const auto plan = op.meta(self, dim, index, source, alpha);
  index_add_into(op.maybe_get_output(), self, plan.dim, index, source, alpha);
  op.finish();
  return self;
}

Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, int64_t rows, int64_t padding, bool by_frequency) {
  type_of(grad.scalar_type());
  if (by_frequency || !is_index(indices) || grad.device() != indices.device()) throw Decline("a gradient scaled by frequency");
  const int64_t width = grad.size(-1);
  Tensor result = at::zeros({rows, width}, grad.options());
  if (grad.numel() == 0) return result;
  require_range(indices, rows);
  Session session(grad);
  add_rows(session, result, 0, indices.reshape({-1}), grad.reshape({-1, width}));
  if (padding >= 0) result.select(0, padding).zero_();
  return result;
}

}  // namespace

void add_selection(KernelTable& table) {
  table.add<"where.self", &where_self>(kMayDecline);
  table.add<"where.self_out", &where_self_out>(kMayDecline);
  table.add<"cat", &cat>(kMayDecline);
  table.add<"cat.out", &cat_out>(kMayDecline);
  table.add<"index_select", &index_select>(kMayDecline);
  table.add<"index_select.out", &index_select_out>(kMayDecline);
  table.add<"index_add", &index_add>(kMayDecline);
  table.add<"index_add_", &index_add_>(kMayDecline);
  table.add<"embedding_dense_backward", &embedding_dense_backward>(kMayDecline);
}

}  // namespace torch_fl::mudnn
