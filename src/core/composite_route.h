// SPDX-License-Identifier: Apache-2.0
// composite_route.h: a route for an operator that PyTorch composes of others, such as scaled_dot_product_attention.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_fl {

// Whether PyTorch has no gradient formula for the operator, because its parts have theirs.
bool is_composite(const c10::OperatorHandle& op);

// PyTorch's own composition, whose parts are dispatched by their arguments.
void call_composition(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Stands at AutogradPrivateUse1, in front of the routed kernel: a call that needs a gradient, which a kernel that is not
// `differentiable` would lose, and a call that is only traced or transformed go to the composition.
class CompositeRoute final : public c10::OperatorKernel {
 public:
  explicit CompositeRoute(bool differentiable) : differentiable_(differentiable) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  bool differentiable_;
};

}  // namespace torch_fl
