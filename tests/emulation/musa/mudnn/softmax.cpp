// SPDX-License-Identifier: Apache-2.0
// Softmax along one dimension, computed in double.
#include <cmath>
#include <limits>

#include "lines.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

using Mode = Softmax::Mode;

// Shifts by the maximum, so that no exponential overflows. Returns log(sum(exp(values))).
double shift(std::vector<double>& values) {
  double largest = -std::numeric_limits<double>::infinity();
  for (double value : values) largest = value > largest || value != value ? value : largest;
  if (std::isinf(largest) && largest < 0) {  // all are -inf: exp(-inf - -inf) is NaN, and their sum 0
    for (double& value : values) value = std::numeric_limits<double>::quiet_NaN();
    return largest;
  }
  double sum = 0;
  for (double& value : values) sum += std::exp(value -= largest);
  if (std::isinf(largest)) return largest;
  const double log_sum = std::log(sum);
  for (double& value : values) value -= log_sum;
  return largest + log_sum;
}

void forward(Mode mode, const View& out, const View& in, int dim) {
  std::vector<double> values;
  each_line<2>({in, out}, dim, [&](const std::array<Line, 2>& line) {
    line[0].read(values);
    if (mode == Mode::LOGSUMEXP) {
      const double result = shift(values);
      store(out.type, line[1].data, 1, &result, 1);
      return;
    }
    shift(values);
    if (mode == Mode::SOFTMAX)
      for (double& value : values) value = std::exp(value);
    line[1].write(values);
  });
}

void backward(Mode mode, const View& grad_in, const View& out, const View& grad_out, int dim) {
  std::vector<double> y, g;
  each_line<3>({grad_in, out, grad_out}, dim, [&](const std::array<Line, 3>& line) {
    line[1].read(y);
    line[2].read(g);
    double sum = 0;
    const size_t count = y.size();
    if (mode == Mode::SOFTMAX) {
      for (size_t i = 0; i < count; ++i) sum += g[i] * y[i];
      for (size_t i = 0; i < count; ++i) g[i] = y[i] * (g[i] - sum);
    } else {
      for (double value : g) sum += value;
      for (size_t i = 0; i < count; ++i) g[i] -= std::exp(y[i]) * sum;
    }
    line[0].write(g);
  });
}

}  // namespace
}  // namespace emulation

Status Softmax::SetDim(int dim) {
  dim_ = dim;
  return Status::SUCCESS;
}
Status Softmax::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}
Status Softmax::SetAlgorithm(Algorithm) { return Status::SUCCESS; }

Status Softmax::Run(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Softmax", [&](class Run& call) {
    View out = call.view(out_tensor, "out");
    const View in = call.view(in_tensor, "in");
    require_float(in);
    require_type(out, in.type, "out and in differ in their types");
    require_dim(dim_, in);
    if (mode_ == Mode::LOGSUMEXP) {
      if (in.rank > 1 && out.rank == in.rank - 1) {  // without the dimension: put it back
        for (int d = in.rank - 1; d > dim_; --d) {
          out.sizes[d] = out.sizes[d - 1];
          out.strides[d] = out.strides[d - 1];
        }
        out.sizes[dim_] = 1;
        out.strides[dim_] = 0;
        out.rank = in.rank;
      }
      require(same_but(dim_, out, in) && out.sizes[dim_] == 1, "out has in's sizes, and 1 along the dimension");
    } else {
      require(out.same_sizes(in), "out and in differ in their sizes");
    }
    if (out.elements() > 0) call.launch([=, mode = mode_, dim = dim_] { forward(mode, out, in, dim); });
  });
}

Status Softmax::RunBwd(Handle& handle, Tensor& grad_in_tensor, const Tensor& out_tensor, const Tensor& grad_out_tensor,
                       const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::SoftmaxBackward", [&](class Run& call) {
    const View grad_in = call.view(grad_in_tensor, "grad_in"), out = call.view(out_tensor, "out"),
               grad_out = call.view(grad_out_tensor, "grad_out");
    require(mode_ != Mode::LOGSUMEXP, "LOGSUMEXP has no backward", Status::NOT_SUPPORTED);
    require_float(out);
    require(grad_in.type == out.type && grad_out.type == out.type, "the tensors differ in their types", Status::NOT_SUPPORTED);
    require(grad_in.same_sizes(out) && grad_out.same_sizes(out), "the tensors differ in their sizes");
    require_dim(dim_, out);
    if (out.elements() > 0) call.launch([=, mode = mode_, dim = dim_] { backward(mode, grad_in, out, grad_out, dim); });
  });
}

}  // namespace musa::dnn
