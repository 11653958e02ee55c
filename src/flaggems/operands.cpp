// SPDX-License-Identifier: Apache-2.0
#include "operands.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <flagos_kernels.h>

namespace torch_fl::flaggems {
namespace {

using Kind = OperatorPlan::Kind;
constexpr auto kDevice = c10::DeviceType::PrivateUse1;

// Calls `visit(tensor, argument)` with each defined tensor, and puts what it returns in its place.
template <typename Visit>
void replace_tensors(const OperatorPlan& plan, torch::jit::Stack* stack, Visit visit) {
  for (const auto& argument : plan.interesting) {
    c10::IValue& value = (*stack)[stack->size() - plan.arguments + argument.position];
    if (argument.kind == Kind::tensor && value.isTensor() && value.toTensor().defined()) {
      visit(value.toTensor(), argument, [&value](at::Tensor other) { value = std::move(other); });
    } else if (argument.kind == Kind::tensor_list && value.isTensorList()) {
      auto list = value.toTensorList();
      for (size_t i = 0; i < list.size(); ++i)
        visit(list.get(i), argument, [&](at::Tensor other) {
          list = list.copy();
          list.set(i, std::move(other));
          value = list;
        });
    } else if (argument.kind == Kind::optional_tensor_list && value.isList()) {
      auto list = value.toList();
      for (size_t i = 0; i < list.size(); ++i) {
        const c10::IValue item = list.get(i);
        if (item.isTensor() && item.toTensor().defined())
          visit(item.toTensor(), argument, [&](at::Tensor other) {
            list = list.copy();
            list.set(i, std::move(other));
            value = list;
          });
      }
    }
  }
}

// What `scalar`, a Python number, counts as beside tensors: floating numbers are of the default data type unless a tensor is
// more precise.
at::Tensor unwrapped(const at::Tensor& scalar, bool doubles) {
  if (scalar.scalar_type() == at::kDouble && !doubles) return scalar.to(c10::get_default_dtype_as_scalartype());
  if (scalar.scalar_type() == at::kComplexDouble && !doubles) return scalar.to(c10::get_default_complex_dtype());
  return scalar;
}

}  // namespace

c10::Device bring_together(const OperatorPlan& plan, torch::jit::Stack* stack) {
  std::optional<c10::Device> device;
  bool others = false, doubles = false;
  replace_tensors(plan, stack, [&](const at::Tensor& tensor, const OperatorPlan::Argument& argument, auto) {
    // Of operators that PyTorch carries nothing out in front of, such as copy_: the kernels read and write memory as it is.
    if (tensor.is_conj() || tensor.is_neg()) throw Decline("a tensor whose conjugation or negation is put off");
    if (tensor.numel() == 0) throw Decline("a tensor without elements");  // a launch on nothing; few functions expect it
    if (tensor.device().type() != kDevice) {
      if (argument.written || (tensor.dim() > 0 && !argument.host)) throw Decline("tensors on several devices");
      others = true;
      return;
    }
    if (!device) device = tensor.device();
    if (*device != tensor.device()) throw Decline("tensors on several devices");
    doubles |= tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kComplexDouble;
  });
  const c10::impl::VirtualGuardImpl devices(kDevice);
  for (const auto& argument : plan.interesting) {
    const c10::IValue& value = (*stack)[stack->size() - plan.arguments + argument.position];
    if (argument.kind == Kind::generator && value.isGenerator() && value.toGenerator().defined()) {
      TORCH_CHECK(value.toGenerator().device().type() == kDevice, "Expected a 'flagos' device type for generator but found '",
                  value.toGenerator().device().type(), "' (when calling ", plan.name, ")");
      throw Decline("a generator of the caller's");  // most functions draw from the device's own, whatever they are given
    }
    if (argument.kind != Kind::device || !value.isDevice()) continue;
    c10::Device asked = value.toDevice();
    if (asked.type() == kDevice && !asked.has_index()) asked = devices.getDevice();
    if (asked.type() != kDevice || (device && *device != asked)) throw Decline("a transfer between devices");
    device = asked;
  }
  if (!device) device = devices.getDevice();
  if (!others) return *device;
  replace_tensors(plan, stack, [&](const at::Tensor& tensor, const OperatorPlan::Argument&, auto replace) {
    if (tensor.device().type() == kDevice) return;
    const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    replace((wrapped ? unwrapped(tensor, doubles) : tensor).to(*device));
  });
  return *device;
}

}  // namespace torch_fl::flaggems
