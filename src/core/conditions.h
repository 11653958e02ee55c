// SPDX-License-Identifier: Apache-2.0
// conditions.h: when a step of a chain applies to a call, such as `flaggems[dtype!=float64]`.
#pragma once

#include <ATen/core/stack.h>

#include <cstdint>
#include <string>
#include <vector>

#include "operator_plan.h"

namespace torch_fl {

// As a routing file has it: `dtype != float64`, `ndim = 2|3`, `size.-1 = 128`, `is_causal = false`.
struct ConditionText {
  std::string subject, relation;
  std::vector<std::string> values;
};

class Condition {
 public:
  // Throws one sentence, which names the wrong word and the valid ones.
  Condition(const ConditionText& text, const c10::FunctionSchema& schema);

  // `dtype` is that of every tensor argument and the one asked for by the argument `dtype`; a Python number has none, and a call
  // without any counts as PyTorch's default. `=` asks that all have one of the values, `!=` that none has. `ndim`, `numel`
  // and `size.<dimension>` are those of the first tensor argument; it has no size in a dimension that it lacks. `contiguous` is
  // true where every tensor argument is. Another
  // subject is an argument of the operator: nothing (`none`), a truth value or a number.
  bool holds(const OperatorPlan& plan, const torch::jit::Stack& stack) const;

 private:
  enum class Subject { dtype, ndim, numel, size, contiguous, argument };
  bool compares(double value) const;
  bool compares_argument(const c10::IValue& value) const;
  bool dtypes_hold(const OperatorPlan& plan, const torch::jit::Stack& stack) const;

  Subject subject_;
  int64_t place_ = 0;  // the dimension, or the position of the argument compared or called `dtype`
  std::string relation_;
  bool none_ = false;  // `none` is among the values
  std::vector<double> values_;
};

}  // namespace torch_fl
