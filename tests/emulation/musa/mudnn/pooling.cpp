// SPDX-License-Identifier: Apache-2.0
// Pooling in two dimensions: sizes, windows and divisors are PyTorch's.
#include "dense.h"
#include "indices.h"

namespace musa::dnn {
namespace emulation {
namespace {

using Mode = Pooling::Mode;

struct Window {
  Mode mode;
  std::array<int64_t, 2> kernel{}, pad{}, stride{}, dilation{}, in{}, out{};  // height, width
  int64_t divisor = 0;

  bool adaptive() const { return mode == Mode::GLOBAL_AVGPOOL || mode == Mode::ADAPTIVE_AVGPOOL || mode == Mode::ADAPTIVE_MAXPOOL; }
  bool largest() const { return mode == Mode::MAXPOOL || mode == Mode::ADAPTIVE_MAXPOOL; }
  // First position (may lie in the padding), end and step along an axis.
  std::array<int64_t, 3> range(int axis, int64_t place) const {
    if (adaptive()) return {place * in[axis] / out[axis], ((place + 1) * in[axis] + out[axis] - 1) / out[axis], 1};
    const int64_t first = place * stride[axis] - pad[axis];
    return {first, first + kernel[axis] * dilation[axis], dilation[axis]};
  }
  // visit(index in the plane) for each element of the window at (y, x); returns what an average divides by.
  template <class Visit>
  double each(int64_t y, int64_t x, Visit&& visit) const {
    const auto rows = range(0, y), columns = range(1, x);
    int64_t inside = 0;
    for (int64_t i = rows[0]; i < rows[1]; i += rows[2]) {
      if (i < 0 || i >= in[0]) continue;
      for (int64_t j = columns[0]; j < columns[1]; j += columns[2]) {
        if (j < 0 || j >= in[1]) continue;
        visit(i * in[1] + j);
        ++inside;
      }
    }
    if (divisor) return static_cast<double>(divisor);
    if (mode != Mode::AVGPOOL_COUNT_PAD) return static_cast<double>(inside);
    return static_cast<double>((std::min(rows[1], in[0] + pad[0]) - rows[0]) * (std::min(columns[1], in[1] + pad[1]) - columns[0]));
  }
};

Window window(Mode mode, const View& in, const View& out, const std::vector<int>& kernel, const std::vector<int>& pad,
              const std::vector<int>& stride, const std::vector<int>& dilation, int divisor) {
  require(in.rank == 4 && out.rank == 4, "Pooling takes two spatial dimensions", Status::NOT_SUPPORTED);
  require(in.sizes[0] == out.sizes[0] && in.sizes[1] == out.sizes[1], "in and out differ in their batch or channels");
  Window result{mode};
  result.divisor = divisor;
  for (int axis = 0; axis < 2; ++axis) {
    result.in[axis] = in.sizes[2 + axis];
    result.out[axis] = out.sizes[2 + axis];
    if (result.adaptive()) continue;
    require(kernel.size() == 2, "SetNdInfo was not called with two dimensions");
    require(kernel[axis] > 0 && stride[axis] > 0 && dilation[axis] > 0 && pad[axis] >= 0, "kernel, stride and dilation are positive");
    result.kernel[axis] = kernel[axis];
    result.pad[axis] = pad[axis];
    result.stride[axis] = stride[axis];
    result.dilation[axis] = dilation[axis];
    require(out.elements() == 0 || (result.out[axis] - 1) * stride[axis] - pad[axis] < result.in[axis], "out reaches beyond in");
  }
  return result;
}

void forward(const Window& window, const View& out, const View& in, const View& indices) {
  const auto x = dense<double>(in);
  std::vector<double> y(out.elements());
  std::vector<int64_t> places(indices ? y.size() : 0);
  const int64_t planes = in.sizes[0] * in.sizes[1], plane = window.in[0] * window.in[1];
  for (int64_t p = 0, place = 0; p < planes; ++p)
    for (int64_t i = 0; i < window.out[0]; ++i)
      for (int64_t j = 0; j < window.out[1]; ++j, ++place) {
        const double* values = x.data() + p * plane;
        if (window.largest()) {
          int64_t best = -1;
          window.each(i, j, [&](int64_t at) {
            if (best < 0 || values[at] > values[best] || values[at] != values[at]) best = at;
          });
          y[place] = best < 0 ? -std::numeric_limits<double>::infinity() : values[best];
          if (indices) places[place] = best;
        } else {
          double sum = 0;
          const double divisor = window.each(i, j, [&](int64_t at) { sum += values[at]; });
          y[place] = sum / divisor;
        }
      }
  write(out, y);
  write(indices, places);
}

void backward(const Window& window, const View& grad_in, const View& grad_out, const View& indices) {
  const auto g = dense<double>(grad_out);
  const auto places = dense<int64_t>(indices);
  std::vector<double> result(grad_in.elements());
  const int64_t planes = grad_in.sizes[0] * grad_in.sizes[1], plane = window.in[0] * window.in[1];
  for (int64_t p = 0, place = 0; p < planes; ++p)
    for (int64_t i = 0; i < window.out[0]; ++i)
      for (int64_t j = 0; j < window.out[1]; ++j, ++place) {
        double* values = result.data() + p * plane;
        if (window.largest()) {
          values[checked(places[place], plane, "mudnn::PoolingBackward")] += g[place];
        } else {
          const double share = g[place] / window.each(i, j, [](int64_t) {});
          window.each(i, j, [&](int64_t at) { values[at] += share; });
        }
      }
  write(grad_in, result);
}

}  // namespace
}  // namespace emulation

Status Pooling::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}
Status Pooling::SetNdInfo(int count, const int* kernel, const int* pad, const int* stride, const int* dilation) {
  if (count != 2) return Status::NOT_SUPPORTED;
  if (!kernel || !pad || !stride || !dilation) return Status::INVALID_PARAMETER;
  kernel_.assign(kernel, kernel + count);
  pad_.assign(pad, pad + count);
  stride_.assign(stride, stride + count);
  dilation_.assign(dilation, dilation + count);
  return Status::SUCCESS;
}
Status Pooling::SetNdInfo(std::initializer_list<int> kernel, std::initializer_list<int> pad, std::initializer_list<int> stride,
                          std::initializer_list<int> dilation) {
  if (kernel.size() != pad.size() || kernel.size() != stride.size() || kernel.size() != dilation.size()) return Status::INVALID_PARAMETER;
  return SetNdInfo(static_cast<int>(kernel.size()), kernel.begin(), pad.begin(), stride.begin(), dilation.begin());
}
Status Pooling::SetDivisor(int divisor) {
  divisor_ = divisor;
  return Status::SUCCESS;
}

Status Pooling::Run(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor, Tensor& indices_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Pooling", [&](class Run& call) {
    const View out = channels_first(call.view(out_tensor, "out")), in = channels_first(call.view(in_tensor, "in")),
               indices = channels_first(call.optional(indices_tensor, "indices"));
    require_float(in);
    require_type(out, in.type, "out and in differ in their types");
    const Window shape = window(mode_, in, out, kernel_, pad_, stride_, dilation_, divisor_);
    if (indices) {
      require_index(indices);
      require(shape.largest() && indices.same_sizes(out), "indices are a maximum's, of out's sizes");
    }
    if (out.elements() > 0) call.launch([=] { forward(shape, out, in, indices); });
  });
}

Status Pooling::RunBwd(Handle& handle, Tensor& grad_in_tensor, const Tensor& grad_out_tensor, const Tensor& indices_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::PoolingBackward", [&](class Run& call) {
    const View grad_in = channels_first(call.view(grad_in_tensor, "grad_in")), grad_out = channels_first(call.view(grad_out_tensor, "grad_out")),
               indices = channels_first(call.optional(indices_tensor, "indices"));
    require_float(grad_out);
    require_type(grad_in, grad_out.type, "the gradients differ in their types");
    const Window shape = window(mode_, grad_in, grad_out, kernel_, pad_, stride_, dilation_, divisor_);
    if (shape.largest() && grad_out.elements() > 0) {
      require(static_cast<bool>(indices) && indices.same_sizes(grad_out), "a maximum's backward needs the indices");
      require_index(indices);
    }
    if (grad_in.elements() > 0) call.launch([=] { backward(shape, grad_in, grad_out, indices); });
  });
}

}  // namespace musa::dnn
