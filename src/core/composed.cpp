// SPDX-License-Identifier: Apache-2.0
#include "composed.h"

#include <ATen/core/Tensor.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_fused_sdp_choice_cpu_dispatch.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>

#include "host_twins.h"
#include "recurrent.h"

namespace torch_fl {
namespace {

using at::Tensor;

Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, c10::SymIntArrayRef stride,
                   c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation, bool transposed,
                   c10::SymIntArrayRef output_padding, c10::SymInt groups) {
  return at::convolution_symint(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                        c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                                                        c10::SymIntArrayRef dilation, bool transposed,
                                                        c10::SymIntArrayRef output_padding, c10::SymInt groups,
                                                        std::array<bool, 3> output_mask) {
  const c10::SymInt channels = transposed ? weight.sym_size(1) * groups : weight.sym_size(0);
  return at::convolution_backward_symint(grad, input, weight, c10::SymIntArrayRef(&channels, 1), stride, padding, dilation,
                                         transposed, output_padding, groups, output_mask);
}

// The CPU's kernel draws from the CPU's generator; these draws come from the device's.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (input.numel() == 0) return {input, at::empty_like(input)};
  if (!train.value_or(true)) return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  const double kept = 1.0 - p;
  Tensor mask = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(kept);
  return {input.mul(mask).mul_(kept == 0 ? 0.0 : 1.0 / kept), mask};
}

int64_t fused_sdp_choice(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& mask,
                         double dropout, bool causal, std::optional<double> scale, bool enable_gqa) {
  // This one is called past the dispatcher: functorch's wrappers and fake tensors get here, and only the math kernel is made of
  // operators that they can see.
  auto wrapped = [](const Tensor& tensor) {
    return tensor.defined() && (!tensor.has_storage() || tensor.key_set().has(c10::DispatchKey::Python));
  };
  if (wrapped(query) || wrapped(key) || wrapped(value) || (mask && wrapped(*mask)))
    return static_cast<int64_t>(sdp::SDPBackend::math);
  // The choice depends on whether gradients will be asked for, and on no value.
  auto twin = [](const Tensor& tensor) {
    if (!tensor.defined() || tensor.device().type() != kDevice) return tensor;
    return described_on_cpu(tensor).set_requires_grad(tensor.requires_grad());
  };
  const OptionalTensor host_mask = mask && mask->defined() ? OptionalTensor(twin(*mask)) : mask;
  const auto choice = static_cast<sdp::SDPBackend>(at::cpu::_fused_sdp_choice(twin(query), twin(key), twin(value), host_mask,
                                                                              dropout, causal, scale, enable_gqa));
  return static_cast<int64_t>(choice == sdp::SDPBackend::flash_attention ? sdp::SDPBackend::overrideable : choice);
}

using Attention = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Attention attention(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& bias, double dropout,
                    bool causal, bool /*return_debug_mask*/, std::optional<double> scale) {
  auto [output, logsumexp] =
      at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, bias, scale);
  Tensor none = at::empty({0}, query.options().dtype(at::kLong));
  return {output, logsumexp, Tensor(), Tensor(), query.sym_size(2), key.sym_size(2), none, none, Tensor()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
    std::array<bool, 4> /*wanted*/, const Tensor& output, const Tensor& logsumexp, const Tensor& /*cumulative_q*/,
    const Tensor& /*cumulative_k*/, c10::SymInt /*max_q*/, c10::SymInt /*max_k*/, double dropout, bool causal,
    const Tensor& /*seed*/, const Tensor& /*offset*/, std::optional<double> scale) {
  const OptionalTensor mask = bias.defined() ? OptionalTensor(bias) : std::nullopt;
  auto [grad_query, grad_key, grad_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      grad, query, key, value, output, logsumexp, dropout, causal, mask, scale);
  return {grad_query, grad_key, grad_value, Tensor()};  // the choice above leaves masks with gradients to the math kernel
}

// scaled_dot_product_attention does not dispatch this one: it looks in a table of function pointers.
using FusedChoice = CountedKernel<"_fused_sdp_choice", &fused_sdp_choice>;
void serve_fused_choice() { at::native::_fused_sdp_choice_stub.set_privateuse1_dispatch_ptr(&FusedChoice::call); }

}  // namespace

void add_composed_kernels(KernelTable& table) {
  table.add<"convolution_overrideable", &convolution>();
  table.add<"convolution_backward_overrideable", &convolution_backward>();
  table.add<"_thnn_fused_lstm_cell", &lstm_cell>();
  table.add<"_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward>();
  table.add<"_thnn_fused_gru_cell", &gru_cell>();
  table.add<"_thnn_fused_gru_cell_backward", &gru_cell_backward>();
  table.add<"native_dropout", &native_dropout>();
  table.add<"_fused_sdp_choice", &fused_sdp_choice>({.chosen = &serve_fused_choice});
  table.add<"_scaled_dot_product_fused_attention_overrideable", &attention>();
  table.add<"_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward>();
}

}  // namespace torch_fl
