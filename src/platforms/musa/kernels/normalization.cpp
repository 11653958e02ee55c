// SPDX-License-Identifier: Apache-2.0
// Layer and batch normalisation with their gradients. Statistics of half and bfloat16 are kept as float.
#include <ATen/OpMathType.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rsqrt.h>

#include <numeric>

#include "descriptor.h"
#include "kernels.h"

namespace torch_fl::mudnn {
namespace {

using at::Tensor;
using Optional = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor given(const Optional& tensor) { return tensor ? *tensor : Tensor(); }
dnn::Tensor describe_given(const Tensor& tensor) { return tensor.defined() ? describe(tensor) : dnn::Tensor(); }

void refuse(const Tensor& input, std::initializer_list<const Tensor*> others) {
  type_of(input.scalar_type());
  if (!at::isFloatingType(input.scalar_type())) throw Decline("a normalisation of integers");
  if (input.numel() == 0) throw Decline("an empty tensor");
  for (const Tensor* other : others) {
    if (!other->defined()) continue;
    if (other->device() != input.device() || !at::isFloatingType(other->scalar_type())) throw Decline("an operand of another kind");
    type_of(other->scalar_type());
  }
}

at::ScalarType of_statistics(const Tensor& input) { return at::toOpMathType(input.scalar_type()); }

dnn::LayerNorm over_last(const Tensor& input, size_t count) {
  std::vector<int> axes(count);
  std::iota(axes.begin(), axes.end(), static_cast<int>(input.dim() - count));
  dnn::LayerNorm operation;
  check(operation.SetAxis(axes.size(), axes.data()), "LayerNorm::SetAxis");
  return operation;
}

Three native_layer_norm(const Tensor& input, at::IntArrayRef shape, const Optional& weight, const Optional& bias, double eps) {
  const Tensor scale = given(weight), shift = given(bias);
  at::native::_check_layer_norm_inputs(input, shape, scale, shift);  // in PyTorch's words
  refuse(input, {&scale, &shift});
  Session session(input);
  at::DimVector kept(input.sizes());
  std::fill(kept.end() - static_cast<std::ptrdiff_t>(shape.size()), kept.end(), 1);
  const auto numbers = input.options().dtype(of_statistics(input));
  const Tensor out = at::empty(input.sizes(), input.options()), mean = at::empty(kept, numbers), rstd = at::empty(kept, numbers);
  dnn::LayerNorm operation = over_last(input, shape.size());
  check(operation.SetEpsilon(eps), "LayerNorm::SetEpsilon");
  dnn::Tensor to = describe(out), m = describe(mean), r = describe(rstd);
  check(operation.Run(session.handle(), to, m, r, describe(input), describe_given(scale), describe_given(shift), workspace()),
        "LayerNorm::Run");
  return {out, mean, rstd};
}

Three native_layer_norm_backward(const Tensor& grad, const Tensor& input, at::IntArrayRef shape, const Tensor& mean,
                                 const Tensor& rstd, const Optional& weight, const Optional& bias, std::array<bool, 3> wanted) {
  const Tensor scale = given(weight), shift = given(bias);
  refuse(input, {&grad, &mean, &rstd, &scale, &shift});
  if (grad.scalar_type() != input.scalar_type()) throw Decline("a gradient of another type");
  Session session(input);
  const auto parameter = (scale.defined() ? scale : input).options();
  Tensor grad_input, grad_weight, grad_bias;
  if (wanted[0]) grad_input = at::empty(input.sizes(), input.options());
  if (wanted[1] && scale.defined()) grad_weight = at::empty(shape, parameter);
  if (wanted[2] && shift.defined()) grad_bias = at::empty(shape, shift.options());
  dnn::Tensor dx = describe_given(grad_input), dw = describe_given(grad_weight), db = describe_given(grad_bias);
  check(over_last(input, shape.size())
            .RunBwd(session.handle(), dx, dw, db, describe(grad), describe(input), describe(mean), describe(rstd),
                    describe_given(scale), workspace()),
        "LayerNorm::RunBwd");
  return {grad_input, grad_weight, grad_bias};
}

dnn::BatchNorm per_channel(double eps, bool training) {
  dnn::BatchNorm operation;
  check(operation.SetMode(dnn::BatchNorm::Mode::PER_CHANNEL), "BatchNorm::SetMode");
  check(operation.SetEpsilon(eps), "BatchNorm::SetEpsilon");
  check(operation.SetTraining(training), "BatchNorm::SetTraining");
  return operation;
}

void refuse_channels(const Tensor& input, std::initializer_list<const Tensor*> others) {
  refuse(input, others);
  if (input.dim() < 2) throw Decline("an input without channels");
  for (const Tensor* other : others)
    if (other->defined() && (other->dim() != 1 || other->size(0) != input.size(1))) throw Decline("statistics of another size");
}

Three native_batch_norm(const Tensor& input, const Optional& weight, const Optional& bias, const Optional& running_mean,
                        const Optional& running_var, bool training, double momentum, double eps) {
  const Tensor scale = given(weight), shift = given(bias), mean = given(running_mean), variance = given(running_var);
  refuse_channels(input, {&scale, &shift, &mean, &variance});
  if (mean.defined() != variance.defined() || (!training && !mean.defined())) throw Decline("one of the running statistics");
  if (training && input.numel() == input.size(1)) throw Decline("one number for each channel");
  Session session(input);
  const Tensor out = at::empty_like(input, input.options(), input.suggest_memory_format());
  const auto numbers = input.options().dtype(of_statistics(input));
  dnn::Tensor to = describe(out);
  const dnn::BatchNorm operation = per_channel(eps, training);
  if (!training) {
    check(operation.RunPure(session.handle(), to, describe(input), describe(mean), describe(variance), describe_given(scale),
                            describe_given(shift)),
          "BatchNorm::RunPure");
    return {out, at::empty({0}, numbers), at::empty({0}, numbers)};
  }
  const Tensor save_mean = at::empty({input.size(1)}, numbers), save_invstd = at::empty({input.size(1)}, numbers);
  dnn::Tensor moving_mean = describe_given(mean), moving_variance = describe_given(variance);
  dnn::Tensor m = describe(save_mean), s = describe(save_invstd);
  check(operation.RunComposite(session.handle(), to, describe(input), moving_mean, moving_variance, m, s,
                               describe_given(scale), describe_given(shift), momentum, workspace()),
        "BatchNorm::RunComposite");
  return {out, save_mean, save_invstd};
}

Three native_batch_norm_backward(const Tensor& grad, const Tensor& input, const Optional& weight, const Optional& running_mean,
                                 const Optional& running_var, const Optional& save_mean, const Optional& save_invstd, bool train,
                                 double eps, std::array<bool, 3> wanted) {
  const Tensor scale = given(weight), shift = Tensor();
  const Tensor mean = train ? given(save_mean) : given(running_mean);
  if (!mean.defined() || (!train && !given(running_var).defined())) throw Decline("no statistics");
  const Tensor invstd = train ? given(save_invstd) : at::rsqrt(given(running_var).add(eps));
  refuse_channels(input, {&scale, &mean, &invstd});
  if (grad.scalar_type() != input.scalar_type() || grad.sizes() != input.sizes()) throw Decline("a gradient of another type");
  Session session(input);
  const auto parameter = scale.defined() ? scale.options() : input.options().dtype(of_statistics(input));
  // Asked for or not, mudnn's gradient of the input is always computed.
  const Tensor grad_input = at::empty_like(input, input.options(), input.suggest_memory_format());
  Tensor grad_weight, grad_bias;
  if (wanted[1]) grad_weight = at::empty({input.size(1)}, parameter);
  if (wanted[2]) grad_bias = at::empty({input.size(1)}, parameter);
  dnn::Tensor dx = describe(grad_input), dm, dv, dw = describe_given(grad_weight), db = describe_given(grad_bias);
  check(per_channel(eps, train)
            .RunBwd(session.handle(), dx, dm, dv, dw, db, describe(input), describe(grad), describe(mean), describe(invstd),
                    describe_given(scale), workspace()),
        "BatchNorm::RunBwd");
  return {wanted[0] ? grad_input : Tensor(), grad_weight, grad_bias};
}

}  // namespace

void add_normalization(KernelTable& table) {
  table.add<"native_layer_norm", &native_layer_norm>(kMayDecline);
  table.add<"native_layer_norm_backward", &native_layer_norm_backward>(kMayDecline);
  table.add<"native_batch_norm", &native_batch_norm>(kMayDecline);
  table.add<"native_batch_norm_backward", &native_batch_norm_backward>(kMayDecline);
}

}  // namespace torch_fl::mudnn
