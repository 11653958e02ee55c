// SPDX-License-Identifier: Apache-2.0
#include "claims.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "operator_plan.h"

namespace torch_fl {
namespace {

using c10::DispatchKey;

constexpr std::array<std::string_view, 21> kBetweenDevices = {
    "copy",            "copy_",          "_to_copy",     "_copy_from",    "_copy_from_and_resize",   "_lazy_clone",
    "lift",            "lift_fresh",     "resize",       "resize_as",     "resize_as_",              "_resize_output",
    "_resize_output_", "set",            "_unsafe_view", "unsafe_split",  "unsafe_split_with_sizes", "_has_same_storage_numel",
    "is_same_size",    "_new_zeros_with_same_feature_meta", "_pack_padded_sequence"};  // the last: its sizes stay on the CPU

// What is done better in parts, and what PyTorch asks of other devices.
constexpr std::array<std::string_view, 6> kInParts = {
    "_foreach_copy", "_foreach_copy_", "convolution_overrideable", "convolution_backward_overrideable",
    "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_fused_attention_overrideable_backward"};

bool composite_taken_whole(const c10::OperatorHandle& op) {
  if (!op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) || op.hasTag(at::Tag::inplace_view)) return false;
  std::string_view name = op.schema().name();
  name.remove_prefix(std::string_view("aten::").size());
  if (name.find("sparse") != std::string_view::npos || name.find("coalesced") != std::string_view::npos) return false;
  if (works_between_devices(name) || std::find(kInParts.begin(), kInParts.end(), name) != kInParts.end()) return false;
  if (name == "kaiser_window") return true;  // the one factory that calls a kernel table of the CPU's
  const OperatorPlan plan(op);
  // Draws without a generator argument would come from the CPU's default generator.
  if (op.hasTag(at::Tag::nondeterministic_seeded) && !plan.random) return false;
  bool tensors = false;
  for (const auto& argument : plan.interesting) {
    if (argument.kind == OperatorPlan::Kind::device) return false;
    tensors |= argument.kind != OperatorPlan::Kind::generator;
  }
  return tensors;
}

}  // namespace

bool gives_view(const c10::FunctionSchema& schema) {
  return std::any_of(schema.returns().begin(), schema.returns().end(),
                     [](const auto& result) { return result.alias_info() && !result.alias_info()->isWrite(); });
}

bool works_between_devices(std::string_view name) {
  return std::find(kBetweenDevices.begin(), kBetweenDevices.end(), name) != kBetweenDevices.end();
}

bool claimed(const c10::OperatorHandle& op) {
  if (gives_view(op.schema())) return false;
  const bool cpu = op.hasKernelForDispatchKey(DispatchKey::CPU);
  // Where PyTorch has both, back ends with a kernel get a derivative formula and the others take the operator apart.
  if (op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd))
    return cpu && op.hasKernelForDispatchKey(DispatchKey::Autograd);
  return cpu || composite_taken_whole(op);
}

}  // namespace torch_fl
