// SPDX-License-Identifier: Apache-2.0
// Convolution and its gradients. One spatial dimension runs as two with a height of 1, a transposed convolution is the gradient
// of a plain one; three spatial dimensions, and whatever is not a valid call, are left to the CPU and PyTorch's own words.
#include <ATen/ops/empty.h>

#include <algorithm>

#include "convolution_algorithm.h"
#include "descriptor.h"
#include "kernels.h"

namespace torch_fl::mudnn {
namespace {

using at::IntArrayRef;
using at::Tensor;

struct Geometry {
  std::array<int, 2> stride, padding, dilation, output_padding;
  int64_t groups;
  bool transposed, one_dimensional;
};

std::array<int, 2> both(IntArrayRef values, bool one_dimensional, int neutral) {
  const auto at = [&](size_t i) { return static_cast<int>(values.size() == 1 ? values[0] : values[i]); };
  if (values.size() != 1 && values.size() != (one_dimensional ? 1u : 2u)) throw Decline("parameters of another rank");
  return one_dimensional ? std::array<int, 2>{neutral, at(0)} : std::array<int, 2>{at(0), at(1)};
}

Geometry geometry(const Tensor& input, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                  IntArrayRef output_padding, int64_t groups) {
  if (input.dim() != 3 && input.dim() != 4) throw Decline("mudnn convolves two spatial dimensions");
  const bool flat = input.dim() == 3;
  return {both(stride, flat, 1), both(padding, flat, 0), both(dilation, flat, 1), both(output_padding, flat, 0),
          groups, transposed, flat};
}

// Channels of the output.
int64_t channels(const Tensor& weight, const Geometry& g) { return g.transposed ? weight.size(1) * g.groups : weight.size(0); }

at::DimVector output_size(const Tensor& input, const Tensor& weight, const Geometry& g) {
  at::DimVector size{input.size(0), channels(weight, g)};
  for (int i = 0; i < 2; ++i) {
    const int64_t span = g.dilation[i] * (weight.size(2 + i) - 1) + 1;
    size.push_back(g.transposed ? (input.size(2 + i) - 1) * g.stride[i] - 2 * g.padding[i] + span + g.output_padding[i]
                                : (input.size(2 + i) + 2 * g.padding[i] - span) / g.stride[i] + 1);
  }
  return size;
}

// Whatever PyTorch would refuse is left to PyTorch.
void refuse(const Tensor& input, const Tensor& weight, const Geometry& g) {
  type_of(input.scalar_type());
  if (!at::isFloatingType(input.scalar_type()) || weight.scalar_type() != input.scalar_type())
    throw Decline("a convolution of integers, or of two types");
  if (input.device() != weight.device()) throw Decline("operands of several devices");
  const bool positive = std::all_of(g.stride.begin(), g.stride.end(), [](int s) { return s > 0; }) &&
                        std::all_of(g.dilation.begin(), g.dilation.end(), [](int d) { return d > 0; }) &&
                        std::all_of(g.padding.begin(), g.padding.end(), [](int p) { return p >= 0; });
  if (!positive || g.groups < 1 || weight.dim() != input.dim()) throw Decline("an invalid convolution");
  const int64_t in = input.size(1), first = weight.size(0);
  const bool fits = g.transposed ? in == first && in % g.groups == 0 : weight.size(1) * g.groups == in && first % g.groups == 0;
  if (!fits || input.numel() == 0 || weight.numel() == 0) throw Decline("an empty or invalid convolution");
}

void refuse_size(const Tensor& input, const Tensor& weight, const Geometry& g, const at::DimVector& size) {
  if (size[2] <= 0 || size[3] <= 0) throw Decline("an output without elements");
  for (int i = 0; i < 2; ++i) {
    const int64_t span = g.dilation[i] * (weight.size(2 + i) - 1) + 1;
    if (!g.transposed && input.size(2 + i) + 2 * g.padding[i] < span) throw Decline("a kernel larger than the input");
    if (g.transposed && g.output_padding[i] >= std::max(g.stride[i], g.dilation[i])) throw Decline("too much output padding");
  }
}

dnn::Convolution prepared(const Geometry& g) {
  dnn::Convolution operation;
  check(operation.SetNdInfo(2, g.padding.data(), g.stride.data(), g.dilation.data()), "Convolution::SetNdInfo");
  check(operation.SetGroups(static_cast<int>(g.groups)), "Convolution::SetGroups");
  return operation;
}

AlgorithmKey key(const char* direction, const Session& session, const Geometry& g, const Tensor& input, const Tensor& weight) {
  AlgorithmKey made{direction[0], session.device().index(), static_cast<int64_t>(input.scalar_type()), g.groups};
  for (const auto& pair : {g.stride, g.padding, g.dilation, g.output_padding}) made.insert(made.end(), pair.begin(), pair.end());
  made.insert(made.end(), input.sizes().begin(), input.sizes().end());
  made.insert(made.end(), weight.sizes().begin(), weight.sizes().end());
  return made;
}

// The three passes of a plain convolution: `large` has the input's side of it, `small` the output's.
void forward(Session& session, const Geometry& g, const Tensor& small, const Tensor& large, const Tensor& weight) {
  dnn::Convolution operation = prepared(g);
  dnn::Tensor out = describe(small);
  const dnn::Tensor in = describe(large), filter = describe(weight);
  run_with_algorithm<dnn::Convolution::Algorithm>(
      key("f", session, g, large, weight),
      [&](auto& best) { return operation.GetRecommendForwardAlgorithm(session.handle(), best, out, in, filter); },
      [&](auto algorithm) { return operation.Run(session.handle(), out, in, filter, algorithm, workspace()); });
}

void backward_data(Session& session, const Geometry& g, const Tensor& large, const Tensor& small, const Tensor& weight) {
  dnn::Convolution operation = prepared(g);
  dnn::Tensor out = describe(large);
  const dnn::Tensor gradient = describe(small), filter = describe(weight);
  run_with_algorithm<dnn::Convolution::AlgorithmBwdData>(
      key("d", session, g, large, weight),
      [&](auto& best) { return operation.GetRecommendBackwardDataAlgorithm(session.handle(), best, out, gradient, filter); },
      [&](auto algorithm) { return operation.RunBwdData(session.handle(), out, gradient, filter, algorithm, workspace()); });
}

void backward_filter(Session& session, const Geometry& g, const Tensor& weight, const Tensor& large, const Tensor& small) {
  dnn::Convolution operation = prepared(g);
  dnn::Tensor out = describe(weight);
  const dnn::Tensor in = describe(large), gradient = describe(small);
  run_with_algorithm<dnn::Convolution::AlgorithmBwdFilter>(
      key("w", session, g, large, weight),
      [&](auto& best) { return operation.GetRecommendBackwardFilterAlgorithm(session.handle(), best, out, in, gradient); },
      [&](auto algorithm) { return operation.RunBwdFilter(session.handle(), out, in, gradient, algorithm, workspace()); });
}

Tensor planes(const Tensor& tensor, const Geometry& g) {
  return (g.one_dimensional ? tensor.unsqueeze(2) : tensor).contiguous();
}
// A result as PyTorch hands it out: channels last where the input or the weight is.
Tensor as_given(const Tensor& tensor, const Geometry& g, const Tensor& input, const Tensor& weight) {
  if (!tensor.defined()) return tensor;
  if (g.one_dimensional) return tensor.squeeze(2);
  const auto last = at::MemoryFormat::ChannelsLast;
  const bool wanted = input.suggest_memory_format() == last || weight.suggest_memory_format() == last;
  return wanted ? tensor.contiguous(last) : tensor;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups) {
  const Geometry g = geometry(input, stride, padding, dilation, transposed, output_padding, groups);
  refuse(input, weight, g);
  const bool biased = bias && bias->defined();
  if (biased && (bias->dim() != 1 || bias->size(0) != channels(weight, g) || bias->scalar_type() != input.scalar_type() ||
                 bias->device() != input.device()))
    throw Decline("a bias that does not fit");
  Session session(input);
  session.follow_tf32(/*convolution=*/true);
  const Tensor x = planes(input, g), w = planes(weight, g);
  const auto size = output_size(x, w, g);
  refuse_size(x, w, g, size);
  Tensor out = at::empty(size, input.options());
  if (transposed) {
    backward_data(session, g, out, x, w);
  } else {
    forward(session, g, out, x, w);
  }
  if (biased) out.add_(bias->view({1, -1, 1, 1}));  // mudnn's fused bias knows neither groups nor every shape
  return as_given(out, g, input, weight);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                                                        at::OptionalIntArrayRef /*bias_sizes*/, IntArrayRef stride,
                                                        IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                                        IntArrayRef output_padding, int64_t groups,
                                                        std::array<bool, 3> wanted) {
  const Geometry g = geometry(input, stride, padding, dilation, transposed, output_padding, groups);
  refuse(input, weight, g);
  if (grad_output.scalar_type() != input.scalar_type() || grad_output.device() != input.device())
    throw Decline("a gradient of another type or device");
  Session session(input);
  session.follow_tf32(/*convolution=*/true);
  const Tensor x = planes(input, g), w = planes(weight, g), grad = planes(grad_output, g);
  const auto size = output_size(x, w, g);
  refuse_size(x, w, g, size);
  if (grad.sizes() != IntArrayRef(size)) throw Decline("a gradient of another shape");
  Tensor grad_input, grad_weight, grad_bias;
  if (wanted[0]) {
    grad_input = at::empty(x.sizes(), x.options());
    if (transposed) {
      forward(session, g, grad_input, grad, w);
    } else {
      backward_data(session, g, grad_input, grad, w);
    }
  }
  if (wanted[1]) {
    grad_weight = at::empty(w.sizes(), w.options());
    if (transposed) {
      backward_filter(session, g, grad_weight, grad, x);
    } else {
      backward_filter(session, g, grad_weight, x, grad);
    }
  }
  if (wanted[2]) grad_bias = grad.sum(IntArrayRef{0, 2, 3});
  return {as_given(grad_input, g, input, weight), as_given(grad_weight, g, input, weight), grad_bias};
}

}  // namespace

void add_convolution(KernelTable& table) {
  table.add<"convolution", &convolution>(kMayDecline);
  table.add<"convolution_backward", &convolution_backward>(kMayDecline);
}

}  // namespace torch_fl::mudnn
