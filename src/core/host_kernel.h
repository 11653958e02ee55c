// SPDX-License-Identifier: Apache-2.0
// host_kernel.h: any operator, served by its CPU kernel on device memory in place.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include <memory>

#include "operator_plan.h"
#include "route_log.h"

namespace torch_fl {

// A boxed kernel for one operator. Inline while the default stream is idle; otherwise queued on the current stream where
// the shapes of the results can be had from the operator's Meta kernel, and after a synchronisation where they cannot.
class HostKernel final : public c10::OperatorKernel {
 public:
  explicit HostKernel(const c10::OperatorHandle& op);
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  OperatorPlan plan_;
  Route* route_;
};

// The kernel of operators that no HostKernel was registered for: other libraries' operators, mostly.
void host_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

}  // namespace torch_fl
