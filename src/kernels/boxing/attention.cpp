// SPDX-License-Identifier: Apache-2.0
// attention.cpp: which kernel scaled_dot_product_attention calls: the one that PyTorch chooses for the target.
#include <ATen/core/Tensor.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_fused_sdp_choice_ops.h>

#include "library.h"
#include "target.h"

namespace torch_fl::boxing {
namespace {

using at::Tensor;

bool is_wrapped(const Tensor& tensor) {
  return tensor.defined() && (!tensor.has_storage() || tensor.key_set().has(c10::DispatchKey::Python));
}

// The choice looks at shapes, types and whether gradients are asked for. It is not dispatched, so it also gets fake tensors and
// functorch's: a description without memory stands for all of them.
Tensor description(const Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() != c10::DeviceType::PrivateUse1) return tensor;
  const c10::Device device(kTarget, kTarget == c10::DeviceType::CPU ? c10::DeviceIndex(-1) : tensor.device().index());
  auto made = c10::make_intrusive<c10::TensorImpl>(kTargetKeys, tensor.dtype(), device);
  made->set_sizes_and_strides(tensor.sym_sizes(), tensor.sym_strides(), tensor.sym_storage_offset());
  Tensor described(std::move(made));
  if (tensor.requires_grad()) described.set_requires_grad(true);
  return described;
}

int64_t fused_sdp_choice(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& mask,
                         double dropout, bool causal, std::optional<double> scale, bool enable_gqa) {
  using sdp::SDPBackend;
  constexpr bool cpu = kTarget == c10::DeviceType::CPU;
  // Under functorch the CPU's kernel has no rule; a card's kernels have.
  if (cpu && (is_wrapped(query) || is_wrapped(key) || is_wrapped(value) || (mask && is_wrapped(*mask))))
    return static_cast<int64_t>(SDPBackend::math);
  const std::optional<Tensor> described_mask = mask ? std::optional(description(*mask)) : std::nullopt;
  const auto choice = static_cast<SDPBackend>(at::_ops::_fused_sdp_choice::redispatch(
      kTargetKeys, description(query), description(key), description(value), described_mask, dropout, causal, scale, enable_gqa));
  // PyTorch calls the CPU's flash attention on devices that it does not know by name, and this one instead:
  return static_cast<int64_t>(!cpu && choice == SDPBackend::flash_attention ? SDPBackend::overrideable : choice);
}

using FusedChoice = CountedKernel<"_fused_sdp_choice", &fused_sdp_choice>;
void serve_fused_choice() { at::native::_fused_sdp_choice_stub.set_privateuse1_dispatch_ptr(&FusedChoice::call); }

}  // namespace

void add_attention(KernelTable& table) { table.add<"_fused_sdp_choice", &fused_sdp_choice>({.chosen = &serve_fused_choice}); }

}  // namespace torch_fl::boxing
