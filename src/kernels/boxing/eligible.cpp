// SPDX-License-Identifier: Apache-2.0
#include "eligible.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>

#include "claims.h"
#include "target.h"

namespace torch_fl::boxing {
namespace {

using c10::DispatchKey;

// Layouts that are no strided memory and back ends that are neither the target nor the CPU; and what PyTorch asks of others.
constexpr std::array<std::string_view, 12> kOtherLayouts = {"sparse",  "nested", "quantize",       "mkldnn",  "coalesce",
                                                           "indices_copy", "values_copy", "miopen",
                                                           "per_channel", "overrideable", "_test_", "hspmm"};

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

bool is_left_out(const c10::OperatorHandle& op) {
  if (gives_view(op.schema()) || op.hasTag(at::Tag::inplace_view) || takes(op.schema(), c10::TypeKind::StorageType) || takes(op.schema(), c10::TypeKind::StreamObjType)) return true;
  const auto name = bare(op);
  return works_between_devices(name) ||
         std::any_of(kOtherLayouts.begin(), kOtherLayouts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// A kernel below autograd in place of PyTorch's composition would lose the gradient that the composition's parts have.
bool would_lose_gradient(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) && !op.hasKernelForDispatchKey(DispatchKey::Autograd);
}

}  // namespace

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
