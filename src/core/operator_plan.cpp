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

// Arguments that lie on the host whatever device the data is on, as the CUDA kernels want them.
bool may_lie_on_host(std::string_view op, const c10::Argument& argument, OperatorPlan::Kind kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> known = {{
      {"aten::_ctc_loss", "input_lengths"},
      {"aten::_ctc_loss", "target_lengths"},
      {"aten::_ctc_loss_backward", "input_lengths"},
      {"aten::_ctc_loss_backward", "target_lengths"},
      {"aten::_foreach_copy_", "src"},
  }};
  if (kind == OperatorPlan::Kind::optional_tensor_list) return true;  // indices
  if (argument.name() == "scalars") return true;
  for (auto& [name, host] : known)
    if (op == name && argument.name() == host) return true;
  return false;
}

// Batch normalisation updates its running statistics, of which its schema says nothing.
bool is_written(std::string_view op, const c10::Argument& argument) {
  if (argument.alias_info()) return argument.alias_info()->isWrite();
  return (argument.name() == "running_mean" || argument.name() == "running_var") && !op.ends_with("_backward");
}

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
      writes_lists(false),
      gives_values(false),
      random(false),
      asks_gradients(name == "aten::_sparse_mm_reduce_impl") {
  const auto& schema = op.schema();
  for (size_t i = 0; i < arguments; ++i) {
    const auto& argument = schema.arguments()[i];
    const Kind kind = kind_of(argument.type());
    if (kind == Kind::other) continue;
    const bool written = is_written(schema.name(), argument);
    interesting.push_back({static_cast<uint16_t>(i), kind, written, may_lie_on_host(schema.name(), argument, kind)});
    writes |= written;
    writes_lists |= written && kind == Kind::tensor_list;
    random |= kind == Kind::generator;
  }
  for (const auto& result : schema.returns()) {
    const Kind kind = kind_of(result.type());
    gives_values |= kind != Kind::tensor && kind != Kind::tensor_list;
  }
}

}  // namespace torch_fl
