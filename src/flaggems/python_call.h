// SPDX-License-Identifier: Apache-2.0
// python_call.h: one call of an operator as a call of a Python function, by the operator's schema.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/utils/pybind.h>

namespace torch_fl::flaggems {

// The arguments as PyTorch's own Python kernels get them: keyword-only ones by name, and none at the end that equals its
// default, since functions written for an operator do not take all of its arguments. Data types, layouts and memory formats,
// which are bare integers on the stack, become Python's. The caller holds the GIL.
std::pair<pybind11::tuple, pybind11::dict> python_arguments(const c10::FunctionSchema& schema,
                                                            c10::ArrayRef<c10::IValue> arguments);

// The function's result as the operator's: a tensor that the operator writes to is returned as the caller's own. Throws where
// the result is not of the schema's type.
void push_results(const c10::FunctionSchema& schema, const pybind11::object& result, torch::jit::Stack* stack,
                  const std::vector<c10::IValue>& arguments);

}  // namespace torch_fl::flaggems
