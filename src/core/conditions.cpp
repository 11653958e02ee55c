// SPDX-License-Identifier: Apache-2.0
#include "conditions.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>

namespace torch_fl {
namespace {

using Kind = OperatorPlan::Kind;

int64_t dtype(const std::string& name) {
  const auto& known = c10::getStringToDtypeMap();
  const auto found = known.find(name);
  TORCH_CHECK_VALUE(found != known.end(), "'", name, "' is not a data type; write it like float64");
  return static_cast<int64_t>(found->second);
}

int64_t number(const std::string& text, const std::string& subject) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TORCH_CHECK_VALUE(error == std::errc() && end == text.data() + text.size(), "'", text, "' is not a whole number to compare ",
                    subject, " with");
  return value;
}

// Calls `visit` with each tensor argument until it returns false.
template <typename Visit>
void visit_tensors(const OperatorPlan& plan, const torch::jit::Stack& stack, Visit visit) {
  const c10::IValue* arguments = &stack[stack.size() - plan.arguments];
  for (const auto& argument : plan.interesting) {
    const c10::IValue& value = arguments[argument.position];
    if (value.isTensor() && value.toTensor().defined()) {
      if (!visit(value.toTensor())) return;
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector())
        if (tensor.defined() && !visit(tensor)) return;
    }
  }
}

}  // namespace

Condition::Condition(const ConditionText& text) : relation_(text.relation) {
  TORCH_CHECK_VALUE(text.subject == "dtype" || text.subject == "ndim" || text.subject == "numel", "'", text.subject,
                    "' cannot be compared; the subjects are dtype, ndim and numel");
  subject_ = text.subject == "dtype" ? Subject::dtype : text.subject == "ndim" ? Subject::ndim : Subject::numel;
  const bool equality = relation_ == "=" || relation_ == "!=";
  TORCH_CHECK_VALUE(equality || subject_ != Subject::dtype, "data types have no order; compare dtype with = or !=");
  TORCH_CHECK_VALUE(equality || text.values.size() == 1, "'", relation_, "' takes one value; use = or != for several");
  for (const auto& value : text.values) values_.push_back(subject_ == Subject::dtype ? dtype(value) : number(value, text.subject));
}

bool Condition::compares(int64_t value) const {
  const bool among = std::find(values_.begin(), values_.end(), value) != values_.end();
  if (relation_ == "=") return among;
  if (relation_ == "!=") return !among;
  if (relation_ == "<") return value < values_[0];
  if (relation_ == "<=") return value <= values_[0];
  if (relation_ == ">") return value > values_[0];
  return value >= values_[0];
}

bool Condition::holds(const OperatorPlan& plan, const torch::jit::Stack& stack) const {
  bool result = true;
  visit_tensors(plan, stack, [&](const at::Tensor& tensor) {
    switch (subject_) {
      case Subject::dtype:
        result = compares(static_cast<int64_t>(tensor.scalar_type()));
        return result;
      case Subject::ndim:
        result = compares(tensor.dim());
        return false;
      default:
        result = compares(tensor.numel());
        return false;
    }
  });
  return result;
}

}  // namespace torch_fl
