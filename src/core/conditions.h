// SPDX-License-Identifier: Apache-2.0
// conditions.h: when a step of a chain applies to a call, such as `flaggems[dtype!=float64]`.
#pragma once

#include <ATen/core/stack.h>

#include <cstdint>
#include <string>
#include <vector>

#include "operator_plan.h"

namespace torch_fl {

// As a routing file has it: `dtype != float64`, `ndim = 2|3`, `numel >= 1024`.
struct ConditionText {
  std::string subject, relation;
  std::vector<std::string> values;
};

class Condition {
 public:
  // Throws one sentence, which names the wrong word and the valid ones.
  explicit Condition(const ConditionText& text);

  // `dtype` is that of every tensor argument: `=` asks that all have one of the values, `!=` that none has. `ndim` and
  // `numel` are those of the first tensor argument.
  bool holds(const OperatorPlan& plan, const torch::jit::Stack& stack) const;

 private:
  enum class Subject { dtype, ndim, numel };
  bool compares(int64_t value) const;

  Subject subject_;
  std::string relation_;
  std::vector<int64_t> values_;
};

}  // namespace torch_fl
