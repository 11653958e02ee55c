// SPDX-License-Identifier: Apache-2.0
#include "conditions.h"

#include <ATen/core/Tensor.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace torch_fl {
namespace {

constexpr std::string_view kSize = "size.";

double dtype(const std::string& name) {
  const auto& known = c10::getStringToDtypeMap();
  const auto found = known.find(name);
  TORCH_CHECK_VALUE(found != known.end(), "'", name, "' is not a data type; write it like float64");
  return static_cast<double>(found->second);
}

double number(std::string_view text, const std::string& subject) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TORCH_CHECK_VALUE(error == std::errc() && end == text.data() + text.size(), "'", text, "' is not a number to compare ", subject,
                    " with");
  return value;
}

std::string names(const c10::FunctionSchema& schema) {
  std::string list;
  for (const auto& argument : schema.arguments()) list += (list.empty() ? "" : ", ") + argument.name();
  return list;
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

Condition::Condition(const ConditionText& text, const c10::FunctionSchema& schema) : relation_(text.relation) {
  const auto argument = schema.argumentIndexWithName(text.subject);
  if (text.subject == "dtype") {
    subject_ = Subject::dtype;
    place_ = schema.argumentIndexWithName("dtype").value_or(-1);
  } else if (text.subject == "ndim" || text.subject == "numel") {
    subject_ = text.subject == "ndim" ? Subject::ndim : Subject::numel;
  } else if (text.subject == "contiguous") {
    subject_ = Subject::contiguous;
  } else if (text.subject.starts_with(kSize)) {
    subject_ = Subject::size;
    place_ = static_cast<int64_t>(number(std::string_view(text.subject).substr(kSize.size()), "a dimension"));
  } else {
    TORCH_CHECK_VALUE(argument, "'", text.subject, "' cannot be compared; the subjects are dtype, ndim, numel, contiguous, size.<dimension> and ",
                      "the arguments of ", schema.name(), ": ", names(schema));
    subject_ = Subject::argument;
    place_ = *argument;
  }
  const bool equality = relation_ == "=" || relation_ == "!=";
  TORCH_CHECK_VALUE(equality || subject_ != Subject::dtype, "data types have no order; compare dtype with = or !=");
  TORCH_CHECK_VALUE(equality || text.values.size() == 1, "'", relation_, "' takes one value; use = or != for several");
  for (const auto& value : text.values) {
    if (subject_ == Subject::dtype)
      values_.push_back(dtype(value));
    else if (subject_ != Subject::argument && subject_ != Subject::contiguous)
      values_.push_back(number(value, text.subject));
    else if (value == "none")
      none_ = true;
    else
      values_.push_back(value == "true" ? 1 : value == "false" ? 0 : number(value, text.subject));
  }
}

bool Condition::compares(double value) const {
  const bool among = std::find(values_.begin(), values_.end(), value) != values_.end();
  if (relation_ == "=") return among;
  if (relation_ == "!=") return !among;
  if (relation_ == "<") return value < values_[0];
  if (relation_ == "<=") return value <= values_[0];
  if (relation_ == ">") return value > values_[0];
  return value >= values_[0];
}

bool Condition::compares_argument(const c10::IValue& value) const {
  if (value.isNone() || (value.isTensor() && !value.toTensor().defined())) return none_ == (relation_ == "=");
  if (value.isBool()) return compares(value.toBool());
  if (value.isInt()) return compares(static_cast<double>(value.toInt()));
  if (value.isDouble()) return compares(value.toDouble());
  return relation_ == "!=";  // a tensor, a list: none of the values that can be written
}

bool Condition::dtypes_hold(const OperatorPlan& plan, const torch::jit::Stack& stack) const {
  bool result = true, tensors = false;
  visit_tensors(plan, stack, [&](const at::Tensor& tensor) {
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return true;
    tensors = true;
    return result = compares(static_cast<double>(tensor.scalar_type()));
  });
  if (!result || place_ < 0) return result;
  const c10::IValue& asked = stack[stack.size() - plan.arguments + place_];
  if (asked.isInt()) return compares(static_cast<double>(asked.toInt()));
  return tensors || compares(static_cast<double>(c10::get_default_dtype_as_scalartype()));
}

bool Condition::holds(const OperatorPlan& plan, const torch::jit::Stack& stack) const {
  const c10::IValue* arguments = &stack[stack.size() - plan.arguments];
  if (subject_ == Subject::argument) return compares_argument(arguments[place_]);
  if (subject_ == Subject::dtype) return dtypes_hold(plan, stack);
  bool result = true, all_contiguous = true;
  visit_tensors(plan, stack, [&](const at::Tensor& tensor) {
    switch (subject_) {
      case Subject::contiguous:
        return all_contiguous = tensor.is_contiguous();
      case Subject::ndim:
        result = compares(static_cast<double>(tensor.dim()));
        return false;
      case Subject::numel:
        result = compares(static_cast<double>(tensor.numel()));
        return false;
      default:
        result = place_ < tensor.dim() && place_ >= -tensor.dim() && compares(static_cast<double>(tensor.size(place_)));
        return false;
    }
  });
  return subject_ == Subject::contiguous ? compares(all_contiguous) : result;
}

}  // namespace torch_fl
