// SPDX-License-Identifier: Apache-2.0
#include "composite_route.h"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace torch_fl {
namespace {

using c10::DispatchKey;

bool needs_gradient(const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); }

bool needs_gradient(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (!c10::GradMode::is_enabled()) return false;
  const auto arguments = torch::jit::last(stack, op.schema().arguments().size());
  return std::any_of(arguments.begin(), arguments.end(), [](const c10::IValue& value) {
    if (value.isTensor()) return needs_gradient(value.toTensor());
    if (!value.isTensorList()) return false;
    const auto tensors = value.toTensorVector();
    return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return needs_gradient(tensor); });
  });
}

// Fake tensors, functionalization, functorch, subclasses: they want to see the parts.
bool transformed(c10::DispatchKeySet keys) {
  constexpr c10::DispatchKeySet layers({DispatchKey::Python, DispatchKey::Functionalize, DispatchKey::FuncTorchBatched,
                                        DispatchKey::FuncTorchGradWrapper, DispatchKey::FuncTorchDynamicLayerFrontMode,
                                        DispatchKey::FuncTorchDynamicLayerBackMode, DispatchKey::Batched});
  return keys.has_any(layers);
}

}  // namespace

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) && !op.hasKernelForDispatchKey(DispatchKey::Autograd);
}

void call_composition(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  // Any key that has no kernel of its own leads to it.
  op.redispatchBoxed(c10::DispatchKeySet(DispatchKey::FPGA), stack);
}

void CompositeRoute::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (transformed(keys) || (!differentiable_ && needs_gradient(op, *stack))) return call_composition(op, stack);
  op.redispatchBoxed(c10::DispatchKeySet(DispatchKey::PrivateUse1), stack);
}

}  // namespace torch_fl
