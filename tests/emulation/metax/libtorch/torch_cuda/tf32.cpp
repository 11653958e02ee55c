// SPDX-License-Identifier: Apache-2.0
#include "tf32.h"

#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>

namespace emulated_fork {
namespace {

constexpr int64_t kWide = 16;     // channels of either side: guess
constexpr int64_t kDropped = 13;  // bits of a float32's mantissa that TF32 has not

}  // namespace

std::optional<size_t> first_factor(std::string_view op) {
  const auto bare = op.substr(op.find("::") + 2);
  const auto name = bare.substr(0, bare.find('.'));
  for (const std::string_view known : {"mm", "bmm", "convolution"})
    if (name == known) return 0;
  for (const std::string_view known : {"addmm", "addmm_", "baddbmm", "baddbmm_", "_addmm_activation"})
    if (name == known) return 1;
  return std::nullopt;
}

bool is_wide(const at::Tensor& weight) { return weight.size(0) >= kWide && weight.size(1) >= kWide; }

at::Tensor as_factor(const at::Tensor& host, bool of_convolution) {
  using at::Float32Backend, at::Float32Op;
  const auto precision =
      at::globalContext().float32Precision(Float32Backend::CUDA, of_convolution ? Float32Op::CONV : Float32Op::MATMUL);
  if (host.scalar_type() != at::kFloat || precision != at::Float32Precision::TF32) return host;
  const at::Tensor bits = host.clone(at::MemoryFormat::Contiguous).view(at::kInt);
  const at::Tensor rounded = at::bitwise_and(at::add(bits, 1 << (kDropped - 1)), -(1 << kDropped)).view(at::kFloat);
  return at::where(host.isfinite(), rounded, host);
}

}  // namespace emulated_fork
