// SPDX-License-Identifier: Apache-2.0
// chain_kernel.h: an operator whose route has several steps, or one that may not apply.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include <memory>
#include <string>
#include <vector>

#include "conditions.h"
#include "host_kernel.h"
#include "slots.h"

namespace torch_fl {

struct ChainStep {
  std::string backend;
  std::vector<Condition> conditions;
  const SlotKernel* kernel;
};

// Asks the steps in turn: one whose conditions hold, and that does not decline, serves the call. A kernel that calls its own
// operator gets the step after its own. After the last step comes the CPU's kernel, or PyTorch's composition where the
// operator has one.
class ChainKernel final : public c10::OperatorKernel {
 public:
  ChainKernel(const c10::OperatorHandle& op, std::vector<ChainStep> steps);
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  void last(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

  OperatorPlan plan_;
  std::vector<ChainStep> steps_;
  std::unique_ptr<HostKernel> host_;  // null: the operator is left to PyTorch's composition
};

}  // namespace torch_fl
