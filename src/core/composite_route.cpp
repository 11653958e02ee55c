// SPDX-License-Identifier: Apache-2.0
#include "composite_route.h"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace torch_fl {
namespace {

using c10::DispatchKey;

// Backwards, or forwards: a tangent travels with its tensor, whatever the grad mode is.
bool needs_gradient(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  return (c10::GradMode::is_enabled() && tensor.requires_grad()) || tensor._fw_grad(/*level=*/0).defined();
}

bool needs_gradient(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto arguments = torch::jit::last(stack, op.schema().arguments().size());
  return std::any_of(arguments.begin(), arguments.end(), [](const c10::IValue& value) {
    if (value.isTensor()) return needs_gradient(value.toTensor());
    if (!value.isTensorList()) return false;
    const auto tensors = value.toTensorVector();
    return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return needs_gradient(tensor); });
  });
}

// Fake tensors, functionalization, functorch, subclasses: they want to see the parts. So does what PyTorch has put off,
// conjugation and negation: it is carried out in front of each part, and of no composition.
bool transformed(c10::DispatchKeySet keys) {
  constexpr c10::DispatchKeySet layers({DispatchKey::Python, DispatchKey::Functionalize, DispatchKey::FuncTorchBatched,
                                        DispatchKey::FuncTorchGradWrapper, DispatchKey::FuncTorchDynamicLayerFrontMode,
                                        DispatchKey::FuncTorchDynamicLayerBackMode, DispatchKey::Batched, DispatchKey::Conjugate,
                                        DispatchKey::Negative, DispatchKey::ZeroTensor});
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
