// SPDX-License-Identifier: Apache-2.0
#include "eligible.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>

#include "target.h"

namespace torch_fl::boxing {
namespace {

using c10::DispatchKey;

// Layouts that are no strided memory and back ends that are neither the target nor the CPU; and what PyTorch asks of others.
constexpr std::array<std::string_view, 12> kOtherLayouts = {"sparse",  "nested", "quantize",       "mkldnn",  "coalesce",
                                                           "indices_copy", "values_copy", "miopen",
                                                           "per_channel", "overrideable", "_test_", "hspmm"};

// What works between devices, on storages or on the bare description of a tensor.
constexpr std::array<std::string_view, 21> kLeftToPyTorch = {
    "copy", "copy_", "_to_copy", "_copy_from", "_copy_from_and_resize", "_lazy_clone", "lift", "lift_fresh", "resize", "resize_as",
    "resize_as_", "_resize_output", "_resize_output_", "set", "_unsafe_view", "unsafe_split", "unsafe_split_with_sizes",
    "_pack_padded_sequence", "_has_same_storage_numel", "is_same_size", "_new_zeros_with_same_feature_meta"};

std::string_view bare(const c10::OperatorHandle& op) {
  std::string_view name = op.schema().name();
  return name.substr(name.find("::") + 2);
}

bool takes(const c10::FunctionSchema& schema, c10::TypeKind kind) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [&](const c10::Argument& argument) {
    c10::TypePtr type = argument.type();
    if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    return type->kind() == kind;
  });
}

bool is_view(const c10::OperatorHandle& op) {
  const auto& returns = op.schema().returns();
  return op.hasTag(at::Tag::inplace_view) || std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
           return result.alias_info() && !result.alias_info()->isWrite();
         });
}

bool is_left_out(const c10::OperatorHandle& op) {
  if (is_view(op) || takes(op.schema(), c10::TypeKind::StorageType) || takes(op.schema(), c10::TypeKind::StreamObjType)) return true;
  const auto name = bare(op);
  return std::find(kLeftToPyTorch.begin(), kLeftToPyTorch.end(), name) != kLeftToPyTorch.end() ||
         std::any_of(kOtherLayouts.begin(), kOtherLayouts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// A kernel below autograd in place of PyTorch's composition would lose the gradient that the composition's parts have.
bool would_lose_gradient(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) && !op.hasKernelForDispatchKey(DispatchKey::Autograd);
}

}  // namespace

std::string short_name(const c10::OperatorName& name) {
  const std::string bare = name.name.substr(name.name.find("::") + 2);
  return name.overload_name.empty() ? bare : bare + "." + name.overload_name;
}

bool is_boxed(const c10::OperatorHandle& op) {
  if (is_left_out(op)) return false;
  if (op.hasKernelForDispatchKey(kTargetKey)) return !would_lose_gradient(op);
  const bool composed = op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
                        op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional);
  // A tensor and a device: the result may lie elsewhere.
  return composed && !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
         !(takes(op.schema(), c10::TypeKind::DeviceObjType) && takes(op.schema(), c10::TypeKind::TensorType));
}

}  // namespace torch_fl::boxing
