// SPDX-License-Identifier: Apache-2.0
// host_kernel.h: any operator, served by its CPU kernel on device memory once the current stream has nothing left to do.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include "operator_plan.h"

namespace emulated_fork {

class HostKernel final : public c10::OperatorKernel {
 public:
  explicit HostKernel(const c10::OperatorHandle& op) : plan_(op) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  torch_fl::OperatorPlan plan_;
};

}  // namespace emulated_fork
