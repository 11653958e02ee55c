// SPDX-License-Identifier: Apache-2.0
// BatchNorm per channel, computed in double.
#include <cmath>

#include "dense.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

struct Shape {
  int64_t batch, channels, plane;
  explicit Shape(const View& in) : batch(in.sizes[0]), channels(in.sizes[1]), plane(in.elements() / std::max<int64_t>(1, batch * channels)) {}
  double count() const { return static_cast<double>(batch * plane); }
  // visit(index) for each element of the channel.
  template <class Visit>
  void each(int64_t channel, Visit&& visit) const {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t i = 0, first = (n * channels + channel) * plane; i < plane; ++i) visit(first + i);
  }
};

View channel_view(const Run& call, const Tensor& tensor, const char* role, const View& in, bool needed) {
  const View view = needed ? call.view(tensor, role) : call.optional(tensor, role);
  if (view) require(is_float(view.type) && view.elements() == in.sizes[1], "statistics, weight and bias have one number for each channel");
  return view;
}

View data_view(const Run& call, const Tensor& tensor, const char* role) {
  const View view = channels_first(call.view(tensor, role));
  require_float(view);
  require(view.rank >= 2, "there is no dimension of channels");
  return view;
}

void normalize(const View& out, const View& in, const std::vector<double>& mean, const std::vector<double>& invstd, const View& weight,
               const View& bias) {
  std::vector<double> x = dense<double>(in);
  const auto w = dense<double>(weight), b = dense<double>(bias);
  const Shape shape(in);
  for (int64_t c = 0; c < shape.channels; ++c) {
    const double scale = invstd[c] * (w.empty() ? 1 : w[c]), shift = b.empty() ? 0 : b[c];
    shape.each(c, [&](int64_t i) { x[i] = (x[i] - mean[c]) * scale + shift; });
  }
  write(out, x);
}

void move_running(const View& running, const std::vector<double>& batch, double momentum) {
  if (!running) return;
  std::vector<double> values = dense<double>(running);
  for (size_t c = 0; c < values.size(); ++c) values[c] = (1 - momentum) * values[c] + momentum * batch[c];
  write(running, values);
}

}  // namespace
}  // namespace emulation

Status BatchNorm::SetMode(Mode mode) { return mode == Mode::PER_CHANNEL ? Status::SUCCESS : Status::NOT_SUPPORTED; }
Status BatchNorm::SetEpsilon(double epsilon) {
  epsilon_ = epsilon;
  return Status::SUCCESS;
}
Status BatchNorm::SetTraining(bool training) {
  training_ = training;
  return Status::SUCCESS;
}

Status BatchNorm::RunPure(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor, const Tensor& mean_tensor,
                          const Tensor& variance_tensor, const Tensor& weight_tensor, const Tensor& bias_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::BatchNorm", [&](class Run& call) {
    const View out = data_view(call, out_tensor, "out"), in = data_view(call, in_tensor, "in");
    require(out.type == in.type && out.same_sizes(in), "out and in differ in their types or sizes");
    const View mean = channel_view(call, mean_tensor, "mean", in, true), variance = channel_view(call, variance_tensor, "variance", in, true),
               weight = channel_view(call, weight_tensor, "weight", in, false), bias = channel_view(call, bias_tensor, "bias", in, false);
    if (in.elements() == 0) return;
    call.launch([=, epsilon = epsilon_] {
      std::vector<double> invstd = dense<double>(variance);
      for (double& value : invstd) value = 1 / std::sqrt(value + epsilon);
      normalize(out, in, dense<double>(mean), invstd, weight, bias);
    });
  });
}

Status BatchNorm::RunComposite(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor, Tensor& running_mean_tensor,
                               Tensor& running_variance_tensor, Tensor& mean_tensor, Tensor& invstd_tensor,
                               const Tensor& weight_tensor, const Tensor& bias_tensor, double momentum,
                               const MemoryMaintainer&) const {
  using namespace emulation;
  return run(handle, "mudnn::BatchNorm", [&](class Run& call) {
    const View out = data_view(call, out_tensor, "out"), in = data_view(call, in_tensor, "in");
    require(out.type == in.type && out.same_sizes(in), "out and in differ in their types or sizes");
    const View running_mean = channel_view(call, running_mean_tensor, "running_mean", in, false),
               running_variance = channel_view(call, running_variance_tensor, "running_variance", in, false),
               mean = channel_view(call, mean_tensor, "mean", in, true), invstd = channel_view(call, invstd_tensor, "invstd", in, true),
               weight = channel_view(call, weight_tensor, "weight", in, false), bias = channel_view(call, bias_tensor, "bias", in, false);
    if (in.elements() == 0) return;
    call.launch([=, epsilon = epsilon_] {
      const std::vector<double> x = dense<double>(in);
      const Shape shape(in);
      std::vector<double> means(shape.channels), invstds(shape.channels), variances(shape.channels);
      for (int64_t c = 0; c < shape.channels; ++c) {
        double squares = 0;
        shape.each(c, [&](int64_t i) { means[c] += x[i]; });
        means[c] /= shape.count();
        shape.each(c, [&](int64_t i) { squares += (x[i] - means[c]) * (x[i] - means[c]); });
        invstds[c] = 1 / std::sqrt(squares / shape.count() + epsilon);
        variances[c] = squares / (shape.count() - 1);
      }
      normalize(out, in, means, invstds, weight, bias);
      write(mean, means);
      write(invstd, invstds);
      move_running(running_mean, means, momentum);
      move_running(running_variance, variances, momentum);
    });
  });
}

Status BatchNorm::RunBwd(Handle& handle, Tensor& grad_in_tensor, Tensor&, Tensor&, Tensor& grad_weight_tensor,
                         Tensor& grad_bias_tensor, const Tensor& in_tensor, const Tensor& grad_out_tensor, const Tensor& mean_tensor,
                         const Tensor& invstd_tensor, const Tensor& weight_tensor, const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::BatchNormBackward", [&](class Run& call) {
    const View in = data_view(call, in_tensor, "in"), grad_out = data_view(call, grad_out_tensor, "grad_out"),
               grad_in = data_view(call, grad_in_tensor, "grad_in");
    require(grad_out.same_sizes(in) && grad_in.same_sizes(in), "the gradients and in differ in their sizes");
    const View grad_weight = channel_view(call, grad_weight_tensor, "grad_weight", in, false),
               grad_bias = channel_view(call, grad_bias_tensor, "grad_bias", in, false),
               mean = channel_view(call, mean_tensor, "mean", in, true), invstd = channel_view(call, invstd_tensor, "invstd", in, true),
               weight = channel_view(call, weight_tensor, "weight", in, false);
    if (in.elements() == 0) return;
    call.workspace(memory, 2 * in.sizes[1] * 4);
    call.launch([=, training = training_] {
      const auto x = dense<double>(in), g = dense<double>(grad_out), m = dense<double>(mean), s = dense<double>(invstd), w = dense<double>(weight);
      const Shape shape(in);
      std::vector<double> result(x.size()), weights(shape.channels), biases(shape.channels);
      for (int64_t c = 0; c < shape.channels; ++c) {
        shape.each(c, [&](int64_t i) {
          weights[c] += g[i] * (x[i] - m[c]) * s[c];
          biases[c] += g[i];
        });
        const double scale = s[c] * (w.empty() ? 1 : w[c]);
        shape.each(c, [&](int64_t i) {
          const double through_statistics = (biases[c] + (x[i] - m[c]) * s[c] * weights[c]) / shape.count();
          result[i] = scale * (g[i] - (training ? through_statistics : 0));
        });
      }
      write(grad_in, result);
      write(grad_weight, weights);
      write(grad_bias, biases);
    });
  });
}

}  // namespace musa::dnn
