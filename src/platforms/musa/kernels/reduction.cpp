// SPDX-License-Identifier: Apache-2.0
#include <ATen/WrapDimUtils.h>
#include <ATen/native/ReduceOpsUtils.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bodies.h"

namespace torch_fl::mudnn {
namespace {

using at::Tensor;

std::vector<int> dimensions(const Tensor& self, Dims dims) {
  if (self.dim() == 0) return {0};
  const auto mask = at::native::make_dim_mask(dims, self.dim());
  std::vector<int> chosen;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (mask[d]) chosen.push_back(static_cast<int>(d));
  return chosen;
}

// The output with its reduced dimensions at size 1, whether PyTorch kept them or not.
dnn::Tensor kept(const Tensor& out, const Tensor& self, const std::vector<int>& dims) {
  if (out.dim() == self.dim()) return describe(out);
  at::DimVector sizes, strides;
  int64_t next = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), static_cast<int>(d)) != dims.end();
    sizes.push_back(reduced ? 1 : out.size(next));
    strides.push_back(reduced ? 1 : out.stride(next));
    if (!reduced) ++next;
  }
  return describe(out.const_data_ptr(), out.scalar_type(), sizes, strides);
}

// mudnn v3300 dies of SIGFPE where several dimensions of one repeated element are reduced, and leaves all but the first
// output unwritten where one is. The gradient of a sum, which a bias asks for, is such a tensor.
Tensor without_repeats(Session& session, const Tensor& self) {
  return repeats_one_element(self) ? materialized(session, self) : self;
}

dnn::Reduce prepared(ReduceMode mode, const std::vector<int>& dims) {
  dnn::Reduce operation;
  check(operation.SetMode(mode), "Reduce::SetMode");
  check(operation.SetDim(static_cast<int>(dims.size()), dims.data()), "Reduce::SetDim");
  return operation;
}

void run(Session& session, const dnn::Reduce& operation, const Tensor& out, const Tensor& self,
         const std::vector<int>& dims) {
  const Tensor input = without_repeats(session, self);
  const dnn::Tensor from = describe(input);
  dnn::Tensor to = kept(out, self, dims);
  check(operation.Run(session.handle(), to, from, workspace()), "Reduce::Run");
}

// What a reduction of nothing gives.
void fill_with_identity(const Tensor& out, ReduceMode mode) {
  switch (mode) {
    case ReduceMode::ADD:
    case ReduceMode::OR: out.fill_(0); return;
    case ReduceMode::PROD:
    case ReduceMode::AND: out.fill_(1); return;
    case ReduceMode::MEAN: out.fill_(std::numeric_limits<double>::quiet_NaN()); return;
    default: throw Decline("a reduction of an empty tensor");
  }
}

ReduceMode of_bool(ReduceMode mode) {
  switch (mode) {
    case ReduceMode::MAX:
    case ReduceMode::OR: return ReduceMode::OR;
    case ReduceMode::MIN:
    case ReduceMode::AND:
    case ReduceMode::PROD: return ReduceMode::AND;
    default: throw Decline("mudnn computes with numbers, not with bool");
  }
}

}  // namespace

void reduce_over(const Tensor& out, const Tensor& self, Dims dims, ReduceMode mode) {
  type_of(self.scalar_type());
  type_of(out.scalar_type());
  const bool logic = mode == ReduceMode::AND || mode == ReduceMode::OR;
  if (logic && out.scalar_type() != at::kBool) throw Decline("any and all of uint8 give uint8");
  if (out.scalar_type() == at::kBool) mode = of_bool(mode);
  if (out.numel() == 0) return;
  if (self.numel() == 0) return fill_with_identity(out, mode);
  Session session(out);
  const auto chosen = dimensions(self, dims);
  const Tensor input = as_dtype(session, self, out.scalar_type());
  run(session, prepared(mode, chosen), out, input, chosen);
}

void reduce_spread(const Tensor& out, const Tensor& self, Dims dims, ReduceMode mode, int correction) {
  Session session(out);
  const auto chosen = dimensions(self, dims);
  dnn::Reduce operation = prepared(mode, chosen);
  check(operation.SetCorrection(correction), "Reduce::SetCorrection");
  run(session, operation, out, self, chosen);
}

void vector_norm(const Tensor& out, const Tensor& self, const at::Scalar& order, Dims dims) {
  type_of(self.scalar_type());
  type_of(out.scalar_type());
  const double p = order.isComplex() ? 0 : order.to<double>();
  if (p != 1 && p != 2) throw Decline("norms of another order than 1 and 2");
  if (out.numel() == 0) return;
  if (self.numel() == 0) return fill_with_identity(out, ReduceMode::ADD);
  Session session(out);
  const auto chosen = dimensions(self, dims);
  dnn::Reduce operation = prepared(ReduceMode::NORM, chosen);
  check(operation.SetNormOrd(static_cast<float>(p)), "Reduce::SetNormOrd");
  run(session, operation, out, as_dtype(session, self, out.scalar_type()), chosen);
}

void extremum(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, ReduceMode mode) {
  type_of(self.scalar_type());
  if (self.scalar_type() == at::kBool) throw Decline("mudnn orders numbers, not bool");
  if (values.numel() == 0) return;
  if (self.numel() == 0) throw Decline("a reduction of an empty tensor");
  Session session(values);
  const std::vector<int> dims{static_cast<int>(at::maybe_wrap_dim(dim, self.dim()))};
  const Tensor input = without_repeats(session, self);
  dnn::Tensor best = kept(values, self, dims), places = kept(indices, self, dims);
  check(prepared(mode, dims).RunWithIndices(session.handle(), best, places, describe(input), workspace()),
        "Reduce::RunWithIndices");
}

void place_of_extremum(const Tensor& indices, const Tensor& self, std::optional<int64_t> dim, ReduceMode mode) {
  type_of(self.scalar_type());
  if (self.scalar_type() == at::kBool) throw Decline("mudnn orders numbers, not bool");
  if (indices.numel() == 0) return;
  if (self.numel() == 0) throw Decline("a reduction of an empty tensor");
  Session session(indices);
  // Without a dimension: the place in the flattened tensor.
  const Tensor input = without_repeats(session, dim ? self : self.reshape({-1}));
  const std::vector<int> dims{dim ? static_cast<int>(at::maybe_wrap_dim(*dim, self.dim())) : 0};
  dnn::Tensor places = dim ? kept(indices, self, dims) : describe(indices.reshape({1}));
  check(prepared(mode, dims).RunIndices(session.handle(), places, describe(input), workspace()), "Reduce::RunIndices");
}

}  // namespace torch_fl::mudnn
