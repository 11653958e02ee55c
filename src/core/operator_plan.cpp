// SPDX-License-Identifier: Apache-2.0
#include "operator_plan.h"

#include <array>
#include <string_view>

namespace torch_fl {
namespace {

OperatorPlan::Kind kind_of(const c10::TypePtr& declared) {
  using Kind = OperatorPlan::Kind;
  c10::TypePtr type = declared;
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  if (type->isSubtypeOf(*c10::TensorType::get())) return Kind::tensor;
  if (type->kind() == c10::TypeKind::DeviceObjType) return Kind::device;
  if (type->kind() == c10::TypeKind::GeneratorType) return Kind::generator;
  if (auto list = type->cast<c10::ListType>()) {
    const auto element = list->getElementType();
    if (element->isSubtypeOf(*c10::TensorType::get())) return Kind::tensor_list;
    if (auto optional = element->cast<c10::OptionalType>();
        optional && optional->getElementType()->isSubtypeOf(*c10::TensorType::get()))
      return Kind::optional_tensor_list;
  }
  return Kind::other;
}

// Operators that take lengths from the host whatever device the data is on, as their CUDA kernels do.
constexpr std::array<std::string_view, 4> kHostLengths = {"aten::_pack_padded_sequence", "aten::_ctc_loss.Tensor",
                                                          "aten::_ctc_loss_backward.Tensor", "aten::_foreach_copy_"};

}  // namespace

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

std::string short_name(const c10::OperatorName& name) {
  std::string full = full_name(name);
  return full.rfind("aten::", 0) == 0 ? full.substr(6) : full;
}

OperatorPlan::OperatorPlan(const c10::OperatorHandle& op)
    : name(full_name(op.operator_name())),
      short_name(torch_fl::short_name(op.operator_name())),
      arguments(op.schema().arguments().size()),
      returns(op.schema().returns().size()),
      writes(false),
      gives_values(false),
      random(false),
      cpu_indices(false) {
  const auto& schema = op.schema();
  for (size_t i = 0; i < arguments; ++i) {
    const auto& argument = schema.arguments()[i];
    const Kind kind = kind_of(argument.type());
    if (kind == Kind::other) continue;
    const bool written = argument.alias_info() && argument.alias_info()->isWrite();
    interesting.push_back({static_cast<uint16_t>(i), kind, written});
    writes |= written;
    random |= kind == Kind::generator;
    cpu_indices |= kind == Kind::optional_tensor_list;
  }
  for (const auto& result : schema.returns()) {
    const Kind kind = kind_of(result.type());
    gives_values |= kind != Kind::tensor && kind != Kind::tensor_list;
  }
  for (auto exception : kHostLengths) cpu_indices |= name == exception;
}

}  // namespace torch_fl
