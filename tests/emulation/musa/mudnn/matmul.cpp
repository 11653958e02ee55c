// SPDX-License-Identifier: Apache-2.0
// MatMul and BatchMatMul: out = alpha * left @ right + beta * c + gamma * bias.
#include "gemm.h"
#include "matrix.h"
#include "run.h"
#include "scalar.h"

namespace musa::dnn {
namespace emulation {
namespace {

struct Product {
  View out, left, right;  // (batch,) rows, columns
  View c, bias;           // out's sizes, or no view
  double alpha, beta, gamma;
  bool tf32;
};

template <class T>
void multiply(const Product& product, const View& out, const View& left, const View& right, const View& c, const View& bias) {
  const int64_t m = out.sizes[0], n = out.sizes[1], k = left.sizes[1];
  std::vector<T> result(m * n);
  gemm(m, n, k, gather_matrix<T>(left, product.tf32).data(), gather_matrix<T>(right, product.tf32).data(), result.data());
  const T alpha = as<T>(scalar(product.alpha)), beta = as<T>(scalar(product.beta)), gamma = as<T>(scalar(product.gamma));
  std::vector<T> row(n);
  for (int64_t i = 0; i < m; ++i) {
    T* values = result.data() + i * n;
    if (product.alpha != 1)
      for (int64_t j = 0; j < n; ++j) values[j] *= alpha;
    const auto add = [&](const View& view, T factor) {
      load(row.data(), view.type, view.at(i * view.strides[0]), view.strides[1], n);
      for (int64_t j = 0; j < n; ++j) values[j] += factor * row[j];
    };
    if (c) add(c, beta);
    if (bias) add(bias, gamma);
    store(out.type, out.at(i * out.strides[0]), out.strides[1], values, n);
  }
}

void multiply(const Product& product) {
  with_product(product.out.type, [&](auto tag) {
    using T = decltype(tag);
    if (product.out.rank == 2) return multiply<T>(product, product.out, product.left, product.right, product.c, product.bias);
    const auto item = [](const View& view, int64_t i) { return view ? view.select(0, i) : view; };
    for (int64_t i = 0; i < product.out.sizes[0]; ++i)
      multiply<T>(product, item(product.out, i), item(product.left, i), item(product.right, i), item(product.c, i),
                  item(product.bias, i));
  });
}

// The common body; `rank` is 2, or 3 with a batch.
void queue(Run& call, int rank, bool transpose_left, bool transpose_right, Product product) {
  auto& [out, left, right, c, bias, alpha, beta, gamma, tf32] = product;
  require(out.rank == rank && left.rank == rank && right.rank == rank,
          rank == 2 ? "MatMul takes matrices" : "BatchMatMul takes three dimensions: batch, rows, columns");
  const int row = rank - 2, column = rank - 1;
  const auto transpose = [&](View& view) {
    std::swap(view.sizes[row], view.sizes[column]);
    std::swap(view.strides[row], view.strides[column]);
  };
  if (transpose_left) transpose(left);
  if (transpose_right) transpose(right);
  require(out.sizes[row] == left.sizes[row] && out.sizes[column] == right.sizes[column] && left.sizes[column] == right.sizes[row],
          "the matrices' sizes do not fit");
  require(rank == 2 || (out.sizes[0] == left.sizes[0] && out.sizes[0] == right.sizes[0]), "the batches differ in size");
  require(out.type == left.type && out.type == right.type, "out, left and right differ in their types", Status::NOT_SUPPORTED);
  require(out.type != Tensor::Type::BOOL, "products are not for BOOL", Status::NOT_SUPPORTED);
  for (View* view : {&c, &bias}) {
    if (!*view) continue;
    require_type(*view, out.type, "c and bias have out's type");
    require(broadcast(*view, out), "c or bias does not broadcast to out");
  }
  if (beta == 0) c = View{};
  if (gamma == 0) bias = View{};
  if (out.elements() > 0) call.launch([product] { multiply(product); });
}

}  // namespace
}  // namespace emulation

#define EMULATION_SETTERS(Class)                               \
  Status Class::SetTranspose(bool left, bool right) {          \
    transpose_left_ = left;                                    \
    transpose_right_ = right;                                  \
    return Status::SUCCESS;                                    \
  }                                                            \
  Status Class::SetAlpha(double alpha) {                       \
    alpha_ = alpha;                                            \
    return Status::SUCCESS;                                    \
  }                                                            \
  Status Class::SetBeta(double beta) {                         \
    beta_ = beta;                                              \
    return Status::SUCCESS;                                    \
  }                                                            \
  Status Class::SetGamma(double gamma) {                       \
    gamma_ = gamma;                                            \
    return Status::SUCCESS;                                    \
  }                                                            \
  Status Class::SetComputeMode(ComputeMode) { return Status::SUCCESS; }

EMULATION_SETTERS(MatMul)
EMULATION_SETTERS(BatchMatMul)

Status MatMul::Run(Handle& handle, Tensor& out_tensor, const Tensor& left, const Tensor& right, const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::MatMul", [&](class Run& call) {
    const View out = call.view(out_tensor, "out");
    queue(call, 2, transpose_left_, transpose_right_,
          {out, call.view(left, "left"), call.view(right, "right"), out, {}, alpha_, beta_, 0, call.allow_tf32()});
  });
}

Status MatMul::RunWithBiasAdd(Handle& handle, Tensor& out_tensor, const Tensor& left, const Tensor& right, const Tensor& c,
                              const Tensor& bias, const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::MatMul", [&](class Run& call) {
    queue(call, 2, transpose_left_, transpose_right_,
          {call.view(out_tensor, "out"), call.view(left, "left"), call.view(right, "right"), call.optional(c, "c"),
           call.optional(bias, "bias"), alpha_, beta_, gamma_, call.allow_tf32()});
  });
}

Status MatMul::RunLt(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right, const Tensor& c, const Tensor& bias,
                     const MatMulLtParam&, const MemoryMaintainer& memory) const {
  return RunWithBiasAdd(handle, out, left, right, c, bias, memory);
}

Status BatchMatMul::Run(Handle& handle, Tensor& out_tensor, const Tensor& left, const Tensor& right,
                        const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::BatchMatMul", [&](class Run& call) {
    const View out = call.view(out_tensor, "out");
    queue(call, 3, transpose_left_, transpose_right_,
          {out, call.view(left, "left"), call.view(right, "right"), out, {}, alpha_, beta_, 0, call.allow_tf32()});
  });
}

Status BatchMatMul::RunWithBiasAdd(Handle& handle, Tensor& out_tensor, const Tensor& left, const Tensor& right,
                                   const Tensor& bias, const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::BatchMatMul", [&](class Run& call) {
    const View out = call.view(out_tensor, "out");
    queue(call, 3, transpose_left_, transpose_right_,
          {out, call.view(left, "left"), call.view(right, "right"), out, call.optional(bias, "bias"), alpha_, beta_, gamma_,
           call.allow_tf32()});
  });
}

Status BatchMatMul::RunLt(Handle& handle, Tensor& out_tensor, const Tensor& left, const Tensor& right, const Tensor& c,
                          const Tensor& bias, const MatMulLtParam&, const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::BatchMatMul", [&](class Run& call) {
    queue(call, 3, transpose_left_, transpose_right_,
          {call.view(out_tensor, "out"), call.view(left, "left"), call.view(right, "right"), call.optional(c, "c"),
           call.optional(bias, "bias"), alpha_, beta_, gamma_, call.allow_tf32()});
  });
}

}  // namespace musa::dnn
