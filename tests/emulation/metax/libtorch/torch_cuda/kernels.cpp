// SPDX-License-Identifier: Apache-2.0
// The table of kernels at the key CUDA: what owns memory by hand, what CUDA alone has made of other operators, and for all others
// the CPU's kernels. PyTorch's dispatcher is asked which operators there are.
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <torch/library.h>

#include "claims.h"
#include "host_kernel.h"
#include "recurrent.h"
#include "tensors.h"
#include "views.h"

namespace emulated_fork {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// The CPU's kernel draws from the CPU's generator.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (input.numel() == 0) return {input, at::empty_like(input)};
  if (!train.value_or(true)) return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  Tensor mask = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(1 - p);
  return {input.mul(mask).mul_(p == 1 ? 0.0 : 1 / (1 - p)), mask};
}

// CUDA's fused kernels have no counterpart on the CPU.
int64_t fused_sdp_choice(const Tensor&, const Tensor&, const Tensor&, const OptionalTensor&, double, bool, std::optional<double>,
                         bool) {
  return static_cast<int64_t>(sdp::SDPBackend::math);
}

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_efficientzerotensor", TORCH_FN(efficient_zero_tensor));
  m.impl("resize_", TORCH_FN(resize_));
  m.impl("set_", TORCH_FN(set_));
  m.impl("set_.source_Tensor", TORCH_FN(set_tensor_));
  m.impl("set_.source_Storage", TORCH_FN(set_storage_));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage_offset_));
  m.impl("record_stream", TORCH_FN(record_stream));
  m.impl("as_strided", TORCH_FN(torch_fl::as_strided));
  m.impl("view", TORCH_FN(torch_fl::view));
  m.impl("_reshape_alias", TORCH_FN(torch_fl::reshape_alias));
  m.impl("unfold", TORCH_FN(torch_fl::unfold));
  m.impl("view_as_real", TORCH_FN(torch_fl::view_as_real));
  m.impl("view_as_complex", TORCH_FN(torch_fl::view_as_complex));
  m.impl("native_dropout", TORCH_FN(native_dropout));
  m.impl("_fused_sdp_choice", TORCH_FN(fused_sdp_choice));
  m.impl("_thnn_fused_lstm_cell", TORCH_FN(torch_fl::lstm_cell));
  m.impl("_thnn_fused_lstm_cell_backward_impl", TORCH_FN(torch_fl::lstm_cell_backward));
  m.impl("_thnn_fused_gru_cell", TORCH_FN(torch_fl::gru_cell));
  m.impl("_thnn_fused_gru_cell_backward", TORCH_FN(torch_fl::gru_cell_backward));

  torch_fl::for_each_aten_operator([&](const c10::OperatorHandle& op) {
    if (op.hasKernelForDispatchKey(c10::DispatchKey::CUDA) || !torch_fl::claimed(op)) return;
    m.impl(torch_fl::full_name(op.operator_name()).c_str(),
           torch::CppFunction::makeFromBoxedFunctor(std::make_unique<HostKernel>(op)));
  });
}

}  // namespace
}  // namespace emulated_fork
