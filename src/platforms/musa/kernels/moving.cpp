// SPDX-License-Identifier: Apache-2.0
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/empty.h>

#include "bodies.h"

namespace torch_fl::mudnn {
namespace {

using at::Tensor;

int wrapped(int64_t dim, const Tensor& tensor) { return static_cast<int>(at::maybe_wrap_dim(dim, tensor.dim())); }

// What scatter starts from: the output may be self itself.
void start_from(Session& session, const Tensor& out, const Tensor& self) {
  if (out.is_same(self) || out.const_data_ptr() == self.const_data_ptr()) return;
  dnn::Tensor to = describe(out);
  copy_into(session, to, describe(self), true);
}

void run_scatter(Session& session, const Tensor& out, int64_t dim, const Tensor& index, const Tensor& source,
                 ScatterMode mode) {
  dnn::Scatter operation;
  check(operation.SetMode(mode), "Scatter::SetMode");
  dnn::Tensor to = describe(out);
  check(operation.Run(session.handle(), to, describe(index), describe(source), wrapped(dim, out), workspace()),
        "Scatter::Run");
}

void refuse_scatter(const Tensor& out, const Tensor& index) {
  type_of(out.scalar_type());
  if (index.scalar_type() != at::kLong && index.scalar_type() != at::kInt) throw Decline("an index that is not an integer");
  if (out.dim() == 0 || index.dim() != out.dim()) throw Decline("an index of rank 0");
}

}  // namespace

void require_range(const Tensor& index, int64_t size) {
  if (index.numel() == 0) return;
  if (index.amin().item<int64_t>() < 0 || index.amax().item<int64_t>() >= size) throw Decline("an index out of range");
}

void scan(const Tensor& out, const Tensor& self, int64_t dim, dnn::Cum::Mode mode) {
  type_of(self.scalar_type());
  type_of(out.scalar_type());
  if (out.scalar_type() == at::kBool) throw Decline("mudnn computes with numbers, not with bool");
  if (out.numel() == 0) return;
  at::assert_no_internal_overlap(out);
  Session session(out);
  const Tensor input = as_dtype(session, self, out.scalar_type());
  dnn::Cum operation;
  check(operation.SetDim(wrapped(dim, out)), "Cum::SetDim");
  check(operation.SetMode(mode), "Cum::SetMode");
  dnn::Tensor to = describe(out);
  check(operation.Run(session.handle(), to, describe(input), workspace()), "Cum::Run");
}

void gather(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  refuse_scatter(self, index);
  if (out.numel() == 0) return;
  require_range(index, self.size(dim));
  Session session(out);
  dnn::GatherX operation;
  check(operation.SetMode(dnn::GatherX::Mode::GATHER_ELEMENTS), "GatherX::SetMode");
  check(operation.SetAxis(wrapped(dim, self)), "GatherX::SetAxis");
  dnn::Tensor to = describe(out);
  check(operation.Run(session.handle(), to, describe(index), describe(self)), "GatherX::Run");
}

void scatter(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
             ScatterMode mode) {
  refuse_scatter(out, index);
  if (mode == ScatterMode::ADD && out.scalar_type() == at::kBool) throw Decline("mudnn adds numbers, not bool");
  if (source.dim() != out.dim()) throw Decline("a source of rank 0");
  require_range(index, out.size(dim));
  if (out.numel() == 0) return;
  Session session(out);
  start_from(session, out, self);
  if (index.numel() == 0) return;
  Tensor part = source;  // PyTorch reads only as much of the source as there is index
  for (int64_t d = 0; d < index.dim(); ++d) part = part.narrow(d, 0, index.size(d));
  run_scatter(session, out, dim, index, part, mode);
}

void scatter(const Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const at::Scalar& value) {
  refuse_scatter(out, index);
  const Tensor one = at::empty({1}, out.options()).fill_(value);
  const at::DimVector ones(index.dim(), 1);
  scatter(out, self, dim, index, one.view(ones).expand(index.sizes()), ScatterMode::UPDATE_ONLY);
}

void sort(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool descending,
          std::optional<bool> stable) {
  type_of(self.scalar_type());
  if (self.scalar_type() == at::kBool) throw Decline("mudnn orders numbers, not bool");
  if (self.dim() == 0) throw Decline("a tensor of rank 0");
  if (self.numel() == 0) return;
  Session session(self);
  dnn::Sort operation;
  check(operation.SetDim(wrapped(dim, self)), "Sort::SetDim");
  check(operation.SetDescending(descending), "Sort::SetDescending");
  check(operation.SetStable(stable.value_or(false)), "Sort::SetStable");
  dnn::Tensor sorted = describe(values), places = describe(indices);
  check(operation.Run(session.handle(), sorted, places, describe(self), workspace()), "Sort::Run");
}

void top(const Tensor& values, const Tensor& indices, const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  type_of(self.scalar_type());
  if (self.scalar_type() == at::kBool) throw Decline("mudnn orders numbers, not bool");
  if (self.dim() == 0) throw Decline("a tensor of rank 0");
  if (values.numel() == 0) return;
  Session session(self);
  dnn::TopK operation;
  check(operation.SetK(static_cast<int>(k)), "TopK::SetK");
  check(operation.SetDim(wrapped(dim, self)), "TopK::SetDim");
  check(operation.SetLargest(largest), "TopK::SetLargest");
  check(operation.SetSorted(sorted), "TopK::SetSorted");
  dnn::Tensor best = describe(values), places = describe(indices);
  check(operation.Run(session.handle(), best, places, describe(self), workspace()), "TopK::Run");
}

}  // namespace torch_fl::mudnn
