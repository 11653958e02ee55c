// SPDX-License-Identifier: Apache-2.0
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include <algorithm>

#include "bodies.h"

namespace torch_fl::mudnn {
namespace {

using at::Tensor;

// A factor as mudnn takes it: a transposed matrix is the matrix and a flag, so that its rows lie dense.
struct Factor {
  dnn::Tensor view;
  bool transposed;
};

Factor factor(const Tensor& matrix) {
  const int64_t rows = matrix.size(-2), row = matrix.stride(-2), column = matrix.stride(-1);
  const bool transposed = row == 1 && column >= std::max<int64_t>(rows, 2) && rows > 1;
  return {describe(transposed ? matrix.transpose(-2, -1) : matrix), transposed};
}

bool shares_memory(const Tensor& a, const Tensor& b) { return a.storage().is_alias_of(b.storage()); }

template <class Operation>
void multiply(Session& session, const Tensor& out, const Tensor& left, const Tensor& right, double alpha, double beta) {
  session.follow_tf32();
  const Factor l = factor(left), r = factor(right);
  dnn::Tensor to = describe(out);
  Operation operation;
  check(operation.SetTranspose(l.transposed, r.transposed), "MatMul::SetTranspose");
  check(operation.SetAlpha(alpha), "MatMul::SetAlpha");
  check(operation.SetBeta(beta), "MatMul::SetBeta");
  check(operation.Run(session.handle(), to, l.view, r.view, workspace()), "MatMul::Run");
}

// out already holds what beta scales.
void multiply(Session& session, const Tensor& out, const Tensor& left, const Tensor& right, double alpha, double beta) {
  if (left.dim() == 3) return multiply<dnn::BatchMatMul>(session, out, left, right, alpha, beta);
  multiply<dnn::MatMul>(session, out, left, right, alpha, beta);
}

void refuse(const Tensor& out, const Tensor& left, const Tensor& right) {
  type_of(out.scalar_type());
  if (out.scalar_type() == at::kBool) throw Decline("mudnn computes with numbers, not with bool");
  if (left.scalar_type() != out.scalar_type() || right.scalar_type() != out.scalar_type())
    throw Decline("factors of different types");
}

}  // namespace

void product(const Tensor& out, const Tensor& left, const Tensor& right) { product(out, left, right, out, 0, 1); }

void product(const Tensor& out, const Tensor& left, const Tensor& right, const Tensor& self, const at::Scalar& beta,
             const at::Scalar& alpha) {
  refuse(out, left, right);
  const double a = in_type(alpha, out.scalar_type()).to<double>(), b = in_type(beta, out.scalar_type()).to<double>();
  if (right.dim() == 1) return product(out.unsqueeze(-1), left, right.unsqueeze(-1), self.dim() ? self.unsqueeze(-1) : self, beta, alpha);
  if (out.numel() == 0) return;
  if (at::has_internal_overlap(out) == at::MemOverlap::Yes) throw Decline("an expanded output: each product has a rule of its own");
  if (left.size(-1) == 0) {  // a sum of nothing
    if (b == 0) {
      out.zero_();
    } else {
      out.copy_(at::mul(self, beta));
    }
    return;
  }
  Session session(out);
  const bool overlapping = shares_memory(out, left) || shares_memory(out, right);
  const Tensor target = overlapping ? at::empty(out.sizes(), out.options()) : out;
  dnn::Tensor to = describe(target);
  if (b != 0 && !target.is_same(self)) {
    const Tensor added = as_dtype(session, self, out.scalar_type()).expand(out.sizes());
    copy_into(session, to, describe(added), true);
  }
  multiply(session, target, left, right, a, b);
  if (overlapping) {
    dnn::Tensor final = describe(out);
    copy_into(session, final, to, true);
  }
}

}  // namespace torch_fl::mudnn
