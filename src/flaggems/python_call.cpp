// SPDX-License-Identifier: Apache-2.0
#include "python_call.h"

#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Layout.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/tensor_memoryformats.h>

namespace py = pybind11;

namespace torch_fl::flaggems {
namespace {

using c10::TypeKind;

// The kind of an argument once an `Optional` around it is taken off; the schema's real type tells a dtype from an int.
TypeKind kind_of(const c10::Argument& argument) {
  c10::TypePtr type = argument.real_type();
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind();
}

py::object borrowed(PyObject* object) { return py::reinterpret_borrow<py::object>(object); }

py::object to_python(const c10::Argument& argument, const c10::IValue& value) {
  if (value.isNone()) return py::none();
  if (value.isInt()) {
    const int64_t number = value.toInt();
    switch (kind_of(argument)) {
      case TypeKind::ScalarTypeType:
        return borrowed(reinterpret_cast<PyObject*>(torch::getTHPDtype(static_cast<c10::ScalarType>(number))));
      case TypeKind::LayoutType:
        return borrowed(reinterpret_cast<PyObject*>(torch::getTHPLayout(static_cast<c10::Layout>(number))));
      case TypeKind::MemoryFormatType:
        return borrowed(torch::utils::getTHPMemoryFormat(static_cast<c10::MemoryFormat>(number)));
      default:
        break;
    }
  }
  if (value.isTensor() && !value.toTensor().defined()) return py::none();
  return torch::jit::toPyObject(value);
}

bool is_default(const c10::Argument& argument, const c10::IValue& value) {
  return argument.default_value() && *argument.default_value() == value;
}

// Position of the argument that result `index` is, or -1 where the result is a new value.
int written_argument(const c10::FunctionSchema& schema, size_t index) {
  const auto* alias = schema.returns()[index].alias_info();
  if (!alias || !alias->isWrite()) return -1;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto* other = schema.arguments()[i].alias_info();
    if (other && other->isWrite() && other->beforeSets() == alias->beforeSets()) return static_cast<int>(i);
  }
  return -1;
}

std::string type_name(const py::object& value) { return py::str(py::type::of(value).attr("__name__")).cast<std::string>(); }

c10::IValue checked(const py::object& value, const c10::TypePtr& type) {
  try {
    return torch::jit::toIValue(value, type);
  } catch (const std::exception&) {
    TORCH_CHECK_TYPE(false, "returned a ", type_name(value), " where a ", type->str(), " is wanted");
  }
}

}  // namespace

std::pair<py::tuple, py::dict> python_arguments(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments) {
  size_t positional = 0;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!schema.arguments()[i].kwarg_only() && !is_default(schema.arguments()[i], arguments[i])) positional = i + 1;
  py::tuple by_position(positional);
  py::dict by_name;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = schema.arguments()[i];
    if (i < positional)
      by_position[i] = to_python(argument, arguments[i]);
    else if (argument.kwarg_only() && !is_default(argument, arguments[i]))
      by_name[py::str(argument.name())] = to_python(argument, arguments[i]);
  }
  return {std::move(by_position), std::move(by_name)};
}

void push_results(const c10::FunctionSchema& schema, const py::object& result, torch::jit::Stack* stack,
                  const std::vector<c10::IValue>& arguments) {
  const auto& returns = schema.returns();
  auto push = [&](size_t index, const py::object& value) {
    const int written = written_argument(schema, index);
    if (written >= 0)
      stack->push_back(arguments[written]);
    else if (value.is_none() && returns[index].type()->isSubtypeOf(*c10::TensorType::get()))
      stack->emplace_back(at::Tensor());  // a gradient that was not asked for
    else
      stack->push_back(checked(value, returns[index].type()));
  };
  if (returns.empty()) return;
  if (returns.size() == 1) return push(0, result);
  const bool all_written = [&] {
    for (size_t i = 0; i < returns.size(); ++i)
      if (written_argument(schema, i) < 0) return false;
    return true;
  }();
  if (all_written) {
    for (size_t i = 0; i < returns.size(); ++i) push(i, py::none());
    return;
  }
  TORCH_CHECK_TYPE(py::isinstance<py::sequence>(result) && py::len(result) == returns.size(), "returned a ", type_name(result),
                   " where ", returns.size(), " values are wanted");
  const auto values = py::reinterpret_borrow<py::sequence>(result);
  for (size_t i = 0; i < returns.size(); ++i) push(i, py::object(values[i]));
}

}  // namespace torch_fl::flaggems
