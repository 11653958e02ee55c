// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm over the last dimensions, computed in double.
#include <cmath>

#include "dense.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

// How many numbers are normalised together; the axes must be the last ones.
int64_t group_size(const View& in, const std::vector<int>& axes) {
  require(!axes.empty(), "SetAxis was not called");
  int64_t size = 1;
  for (int axis : axes) size *= in.sizes[require_dim(axis, in)];
  for (int axis : axes)
    require(axis >= in.rank - static_cast<int>(axes.size()), "normalised axes are the last ones", Status::NOT_SUPPORTED);
  return size;
}

void require_floats(std::initializer_list<const View*> views) {
  for (const View* view : views)
    if (*view) require_float(*view);
}
void require_elements(const View& view, int64_t count) {
  if (view) require(view.elements() == count, "a statistic, weight or bias has the wrong number of elements");
}

struct Normal {
  View out, mean, rstd, in, weight, bias;
  int64_t size;
  double epsilon;
  bool centred;
};

void forward(const Normal& n) {
  std::vector<double> x = dense<double>(n.in);
  const auto weight = dense<double>(n.weight), bias = dense<double>(n.bias);
  const int64_t groups = static_cast<int64_t>(x.size()) / n.size;
  std::vector<double> means(groups), rstds(groups);
  for (int64_t g = 0; g < groups; ++g) {
    double* row = x.data() + g * n.size;
    double mean = 0, squares = 0;
    if (n.centred) {
      for (int64_t i = 0; i < n.size; ++i) mean += row[i];
      mean /= static_cast<double>(n.size);
    }
    for (int64_t i = 0; i < n.size; ++i) squares += (row[i] - mean) * (row[i] - mean);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(n.size) + n.epsilon);
    for (int64_t i = 0; i < n.size; ++i)
      row[i] = (row[i] - mean) * rstd * (weight.empty() ? 1 : weight[i]) + (bias.empty() ? 0 : bias[i]);
    means[g] = mean;
    rstds[g] = rstd;
  }
  write(n.out, x);
  write(n.mean, means);
  write(n.rstd, rstds);
}

struct Gradient {
  View grad_in, grad_weight, grad_bias, grad_out, in, mean, rstd, weight;
  int64_t size;
};

void backward(const Gradient& n) {
  const auto x = dense<double>(n.in), g = dense<double>(n.grad_out), means = dense<double>(n.mean), rstds = dense<double>(n.rstd),
             weight = dense<double>(n.weight);
  std::vector<double> grad_in(x.size()), grad_weight(n.size), grad_bias(n.size), scaled(n.size), centred(n.size);
  const double count = static_cast<double>(n.size);
  for (size_t row = 0; row < means.size(); ++row) {
    const size_t first = row * n.size;
    double sum = 0, product = 0;
    for (int64_t i = 0; i < n.size; ++i) {
      centred[i] = (x[first + i] - means[row]) * rstds[row];
      scaled[i] = g[first + i] * (weight.empty() ? 1 : weight[i]);
      sum += scaled[i];
      product += scaled[i] * centred[i];
      grad_weight[i] += g[first + i] * centred[i];
      grad_bias[i] += g[first + i];
    }
    for (int64_t i = 0; i < n.size; ++i)
      grad_in[first + i] = rstds[row] * (scaled[i] - sum / count - centred[i] * product / count);
  }
  write(n.grad_in, grad_in);
  write(n.grad_weight, grad_weight);
  write(n.grad_bias, grad_bias);
}

}  // namespace
}  // namespace emulation

Status LayerNorm::SetAxis(size_t count, const int* axes) {
  if (count == 0 || !axes) return Status::INVALID_PARAMETER;
  axes_.assign(axes, axes + count);
  return Status::SUCCESS;
}
Status LayerNorm::SetEpsilon(double epsilon) {
  epsilon_ = epsilon;
  return Status::SUCCESS;
}
Status LayerNorm::SetVarMode(VarMode) { return Status::SUCCESS; }

Status LayerNorm::Run(Handle& handle, Tensor& out, Tensor& mean, Tensor& rstd, const Tensor& in, const Tensor& weight,
                      const Tensor& bias, const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::LayerNorm", [&](class Run& call) {
    Normal n{call.view(out, "out"), call.optional(mean, "mean"), call.optional(rstd, "rstd"), call.view(in, "in"),
             call.optional(weight, "weight"), call.optional(bias, "bias"), 0, epsilon_, true};
    n.size = group_size(n.in, axes_);
    require_floats({&n.in, &n.mean, &n.rstd, &n.weight, &n.bias});
    require_type(n.out, n.in.type, "out and in differ in their types");
    require(n.out.same_sizes(n.in), "out and in differ in their sizes");
    if (n.in.elements() == 0) return;
    for (const View* view : {&n.mean, &n.rstd}) require_elements(*view, n.in.elements() / n.size);
    for (const View* view : {&n.weight, &n.bias}) require_elements(*view, n.size);
    call.launch([=] { forward(n); });
  });
}

Status LayerNorm::RunBwd(Handle& handle, Tensor& grad_in, Tensor& grad_weight, Tensor& grad_bias, const Tensor& grad_out,
                         const Tensor& in, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                         const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::LayerNormBackward", [&](class Run& call) {
    Gradient n{call.optional(grad_in, "grad_in"), call.optional(grad_weight, "grad_weight"), call.optional(grad_bias, "grad_bias"),
               call.view(grad_out, "grad_out"), call.view(in, "in"), call.view(mean, "mean"), call.view(rstd, "rstd"),
               call.optional(weight, "weight"), 0};
    n.size = group_size(n.in, axes_);
    require_floats({&n.in, &n.grad_in, &n.grad_weight, &n.grad_bias, &n.grad_out, &n.mean, &n.rstd, &n.weight});
    require(n.grad_out.same_sizes(n.in) && (!n.grad_in || n.grad_in.same_sizes(n.in)), "the gradients and in differ in their sizes");
    if (n.in.elements() == 0) return;
    for (const View* view : {&n.mean, &n.rstd}) require_elements(*view, n.in.elements() / n.size);
    for (const View* view : {&n.grad_weight, &n.grad_bias, &n.weight}) require_elements(*view, n.size);
    call.workspace(memory, 2 * n.size * 4);
    call.launch([=] { backward(n); });
  });
}

Status RMSNorm::SetAxis(size_t count, const int* axes) {
  if (count == 0 || !axes) return Status::INVALID_PARAMETER;
  axes_.assign(axes, axes + count);
  return Status::SUCCESS;
}
Status RMSNorm::SetEpsilon(double epsilon) {
  epsilon_ = epsilon;
  return Status::SUCCESS;
}

Status RMSNorm::Run(Handle& handle, Tensor& out, Tensor& rstd, const Tensor& in, const Tensor& weight) const {
  using namespace emulation;
  return run(handle, "mudnn::RMSNorm", [&](class Run& call) {
    Normal n{call.view(out, "out"), {}, call.optional(rstd, "rstd"), call.view(in, "in"), call.optional(weight, "weight"), {}, 0,
             epsilon_, false};
    n.size = group_size(n.in, axes_);
    require_floats({&n.in, &n.rstd, &n.weight});
    require_type(n.out, n.in.type, "out and in differ in their types");
    require(n.out.same_sizes(n.in), "out and in differ in their sizes");
    if (n.in.elements() == 0) return;
    require_elements(n.rstd, n.in.elements() / n.size);
    require_elements(n.weight, n.size);
    call.launch([=] { forward(n); });
  });
}

}  // namespace musa::dnn
