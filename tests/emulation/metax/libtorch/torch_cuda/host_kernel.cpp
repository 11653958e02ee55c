// SPDX-License-Identifier: Apache-2.0
#include "host_kernel.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/accumulate.h>

#include <algorithm>

#include "device_memory.h"
#include "generator.h"
#include "tf32.h"
#include "twins.h"

namespace emulated_fork {
namespace {

using c10::IValue;
using torch_fl::OperatorPlan;
using Kind = OperatorPlan::Kind;

// The arguments of one call, CUDA tensors replaced by their CPU twins.
class Call {
 public:
  Call(const OperatorPlan& plan, torch::jit::Stack* stack) : plan_(plan), stack_(stack), device_(find_device()) {}

  c10::DeviceIndex device() const { return device_; }

  void replace_arguments() {
    const uint64_t draws = plan_.random ? count_draws() : 0;
    for (const auto& argument : plan_.interesting) {
      IValue& value = at(argument);
      if (argument.kind == Kind::generator) {
        value = cpu_generator(value.toOptional<at::Generator>(), device_, draws);
      } else if (value.isDevice()) {
        value = c10::Device(c10::kCPU);
      } else if (value.isTensor()) {
        value = twin(value.toTensor());
      } else if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) {
          if (argument.written) count_write(tensor);
          list.push_back(twin(tensor));
        }
        value = std::move(list);
      } else if (value.isList()) {  // of optional tensors
        c10::List<std::optional<at::Tensor>> list;
        for (const IValue& item : value.toListRef())
          list.push_back(item.isTensor() ? std::optional(twin(item.toTensor())) : std::nullopt);
        value = std::move(list);
      }
    }
  }

  // Where the card's matrix units round the factors of a product.
  void round_factors() {
    const auto first = first_factor(plan_.name);
    if (!first) return;
    IValue* factors = &(*stack_)[stack_->size() - plan_.arguments + *first];
    const bool of_convolution = plan_.short_name == "convolution";
    if (of_convolution && !is_wide(factors[1].toTensor())) return;
    for (IValue* value : {factors, factors + 1}) *value = as_factor(value->toTensor(), of_convolution);
  }

  void replace_results() {
    twins_.write_back();
    for (size_t i = stack_->size() - plan_.returns; i < stack_->size(); ++i) {
      IValue& value = (*stack_)[i];
      if (value.isTensor()) {
        value = twins_.result(value.toTensor(), device_);
      } else if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(twins_.result(tensor, device_));
        value = std::move(list);
      }
    }
  }

 private:
  IValue& at(const OperatorPlan::Argument& argument) const {
    return (*stack_)[stack_->size() - plan_.arguments + argument.position];
  }

  template <typename Visit>
  void for_each_tensor(Visit visit) const {
    for (const auto& argument : plan_.interesting) {
      const IValue& value = at(argument);
      if (value.isTensor()) visit(value.toTensor(), argument);
      if (value.isList())
        for (const IValue& item : value.toListRef())
          if (item.isTensor()) visit(item.toTensor(), argument);
    }
  }

  // Of the first tensor, else what a device argument names; throws where the tensors do not belong together.
  c10::DeviceIndex find_device() const {
    std::optional<c10::Device> first, other;
    for_each_tensor([&](const at::Tensor& tensor, const OperatorPlan::Argument& argument) {
      if (!tensor.defined()) return;
      const bool host_scalar = !on_card(tensor) && (tensor.dim() == 0 || argument.host) && !argument.written;
      if (host_scalar) return;
      if (on_card(tensor) && !first) first = tensor.device();
      if (!on_card(tensor) || tensor.device() != *first) other = tensor.device();
    });
    TORCH_CHECK(!other, "Expected all tensors to be on the same device, but found at least two devices, ",
                first.value_or(c10::Device(c10::kCUDA)), " and ", *other, "! (when calling ", plan_.name, ")");
    if (first) return first->index();
    for (const auto& argument : plan_.interesting)
      if (at(argument).isDevice() && at(argument).toDevice().has_index()) return at(argument).toDevice().index();
    return c10::cuda::current_device();
  }

  at::Tensor twin(const at::Tensor& tensor) {
    at::Tensor host = twins_.of(tensor);
    if (plan_.asks_gradients && tensor.requires_grad()) host.set_requires_grad(true);
    return host;
  }

  // PyTorch counts the versions of written tensors, but leaves those in lists to the kernel.
  static void count_write(const at::Tensor& tensor) {
    if (tensor.defined() && !tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
  }

  // An upper bound: the largest tensor's, else as many as the first size has, else randperm's n.
  uint64_t count_draws() const {
    int64_t most = 0;
    for_each_tensor([&](const at::Tensor& tensor, const auto&) { if (tensor.defined()) most = std::max(most, tensor.numel()); });
    const IValue* arguments = &(*stack_)[stack_->size() - plan_.arguments];
    for (size_t i = 0; i < plan_.arguments && most == 0; ++i)
      if (arguments[i].isIntList()) most = c10::multiply_integers(arguments[i].toIntVector());
    if (most == 0 && arguments->isInt()) most = arguments->toInt();
    return static_cast<uint64_t>(std::max<int64_t>(most, 0));
  }

  const OperatorPlan& plan_;
  torch::jit::Stack* const stack_;
  Twins twins_;
  const c10::DeviceIndex device_;
};

}  // namespace

void HostKernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  Call call(plan_, stack);
  const c10::cuda::CUDAGuard there(call.device());
  wait_for_current_stream(call.device());
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  call.replace_arguments();
  call.round_factors();
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  call.replace_results();
}

}  // namespace emulated_fork
