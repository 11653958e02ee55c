// SPDX-License-Identifier: Apache-2.0
// flash_attention.cpp: the operator that scaled_dot_product_attention calls where the target's choice is flash attention. Its
// results are those that PyTorch's description of the operator (its Meta kernel) promises to torch.compile.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward_ops.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_ops.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>

#include <array>
#include <cmath>

#include "call.h"
#include "library.h"

namespace torch_fl::boxing {
namespace {

using at::Tensor;

constexpr int64_t kMultiple = 8;  // of the kernels' head dimension

int64_t missing(const Tensor& tensor) { return (kMultiple - tensor.size(-1) % kMultiple) % kMultiple; }
Tensor padded(const Tensor& tensor) { return missing(tensor) ? at::constant_pad_nd(tensor, {0, missing(tensor)}, 0) : tensor; }

// Without the columns that `padded` adds, laid out as `like`. (These kernels want one head dimension of query, key and value.)
Tensor cut(Tensor tensor, const Tensor& like) {
  if (tensor.size(-1) == like.size(-1)) return tensor;
  return at::empty_like(like).copy_(tensor.narrow(-1, 0, like.size(-1)));
}

double scale_of(const Tensor& query, std::optional<double> scale) {
  return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
}

// Part of the kernel's random state, two words, over the same memory: one word as a number of its own, or both together again.
Tensor words(const Tensor& state, at::ScalarType type, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride) {
  auto made = c10::make_intrusive<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(state.storage()), state.key_set(),
                                                   c10::scalarTypeToTypeMeta(type));
  made->set_sizes_and_strides(size, stride, state.storage_offset() + offset);
  return Tensor(std::move(made));
}
Tensor word(const Tensor& state, int64_t index) { return words(state, at::kLong, index, {}, {}); }
Tensor state_of(const Tensor& seed, const Tensor& offset) {
  const bool neighbours = seed.storage().is_alias_of(offset.storage()) && offset.storage_offset() == seed.storage_offset() + 1;
  return words(neighbours ? seed : at::stack({seed, offset}), at::kUInt64, 0, {2}, {1});
}

using Attention = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Attention attention(const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& bias, double dropout,
                    bool causal, bool /*debug_mask*/, std::optional<double> scale) {
  TORCH_CHECK(!bias || !bias->defined(), "flagos: flash attention takes no mask; call scaled_dot_product_attention, which chooses");
  static constexpr Facts facts{"aten::_scaled_dot_product_flash_attention", false, false};
  Call call(facts);
  const Tensor q = call.alias(query), k = call.alias(key), v = call.alias(value);
  auto [output, logsumexp, cumulative_q, cumulative_k, max_q, max_k, state, unused, mask] =
      at::_ops::_scaled_dot_product_flash_attention::redispatch(kTargetKeys, padded(q), padded(k), padded(v), dropout, causal,
                                                                /*return_debug_mask=*/false, scale_of(q, scale));
  const Tensor random = call.result(std::move(state));
  return {call.result(cut(std::move(output), q)), call.result(std::move(logsumexp)), Tensor(), Tensor(), max_q, max_k,
          word(random, 0), word(random, 1), Tensor()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& /*bias*/,
    std::array<bool, 4> /*wanted*/, const Tensor& output, const Tensor& logsumexp, const Tensor& /*cumulative_q*/,
    const Tensor& /*cumulative_k*/, c10::SymInt max_q, c10::SymInt max_k, double dropout, bool causal, const Tensor& seed,
    const Tensor& offset, std::optional<double> scale) {
  static constexpr Facts facts{"aten::_scaled_dot_product_flash_attention_backward", false, false};
  Call call(facts);
  const Tensor g = call.alias(grad), q = call.alias(query), k = call.alias(key), v = call.alias(value), o = call.alias(output),
               l = call.alias(logsumexp), s = call.alias(seed), f = call.alias(offset);
  const Tensor state = state_of(s, f);
  auto [grad_query, grad_key, grad_value] = at::_ops::_scaled_dot_product_flash_attention_backward::redispatch(
      kTargetKeys, padded(g), padded(q), padded(k), padded(v), padded(o), l, Tensor(), Tensor(), max_q, max_k, dropout, causal, state,
      state, scale_of(q, scale));
  return {call.result(cut(std::move(grad_query), q)), call.result(cut(std::move(grad_key), k)),
          call.result(cut(std::move(grad_value), v)), Tensor()};
}

}  // namespace

void add_flash_attention(KernelTable& table) {
  table.add<"_scaled_dot_product_fused_attention_overrideable", &attention>();
  table.add<"_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward>();
}

}  // namespace torch_fl::boxing
