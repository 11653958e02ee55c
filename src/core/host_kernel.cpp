// SPDX-License-Identifier: Apache-2.0
#include "host_kernel.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/List.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <mutex>
#include <unordered_map>

#include "cpu_threads.h"
#include "generator.h"
#include "host_twins.h"
#include "queued_kernel.h"

namespace torch_fl {
namespace {

using Kind = OperatorPlan::Kind;

// The arguments of one call, device tensors replaced by their CPU twins.
class Call {
 public:
  Call(const OperatorPlan& plan, torch::jit::Stack* stack) : plan_(plan), stack_(stack) {}

  c10::DeviceIndex device() const { return device_; }
  HostTwins& twins() { return twins_; }

  // Which device the call is for; throws where its tensors do not belong together.
  void find_device() {
    for (const auto& argument : plan_.interesting) {
      const c10::IValue& value = at(argument.position);
      switch (argument.kind) {
        case Kind::tensor:
          if (value.isTensor()) visit(value.toTensor(), argument);
          break;
        case Kind::tensor_list:
          if (value.isTensorList())
            for (const at::Tensor& tensor : value.toTensorVector()) visit(tensor, argument);
          break;
        case Kind::optional_tensor_list:
          if (value.isList())
            for (const c10::IValue& item : value.toListRef())
              if (item.isTensor()) visit(item.toTensor(), argument);
          break;
        case Kind::device:
          if (value.isDevice() && value.toDevice().type() == kDevice && device_ < 0)
            device_ = checked_index(value.toDevice());
          break;
        default:
          break;
      }
    }
    if (device_ < 0) device_ = current_device();
    if (host_tensor_) complain();
  }

  void replace_arguments() {
    const uint64_t draws = plan_.random ? draws_of(plan_, *stack_) : 0;
    for (const auto& argument : plan_.interesting) {
      c10::IValue& value = at(argument.position);
      switch (argument.kind) {
        case Kind::tensor:
          if (value.isTensor()) replace(value, argument.written);
          break;
        case Kind::tensor_list:
          if (value.isTensorList()) replace_list(value, argument.written);
          break;
        case Kind::optional_tensor_list:
          if (value.isList()) replace_optional_list(value, argument.written);
          break;
        case Kind::generator:
          value = cpu_generator(value, device_, draws);
          break;
        case Kind::device:
          if (value.isDevice()) value = c10::Device(c10::kCPU);
          break;
        default:
          break;
      }
    }
  }

  void replace_results(c10::Stream stream) {
    const size_t first = stack_->size() - plan_.returns;
    for (size_t i = first; i < stack_->size(); ++i) {
      c10::IValue& value = (*stack_)[i];
      if (value.isTensor()) {
        at::Tensor host = std::move(value).toTensor();
        value = c10::IValue();
        value = twins_.result(host, stream);
      } else if (value.isTensorList()) {
        c10::List<at::Tensor> results;
        for (const at::Tensor& host : value.toTensorVector()) results.push_back(twins_.result(host, stream));
        value = std::move(results);
      }
    }
  }

 private:
  c10::IValue& at(size_t position) { return (*stack_)[stack_->size() - plan_.arguments + position]; }

  void visit(const at::Tensor& tensor, const OperatorPlan::Argument& argument) {
    if (!tensor.defined()) return;
    const c10::Device device = tensor.device();
    if (C10_LIKELY(device.type() == kDevice)) {
      if (device_ < 0) device_ = device.index();
      if (C10_UNLIKELY(device_ != device.index())) complain(device);
    } else if (argument.written || (tensor.dim() > 0 && !argument.host)) {  // a scalar may be read from the CPU, as by CUDA's kernels
      host_tensor_ = true;
      other_ = device;
    }
  }

  [[noreturn]] void complain(std::optional<c10::Device> other = std::nullopt) {
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, flagos:",
                static_cast<int>(device_), " and ", other ? *other : other_, "! (when calling ", plan_.name, ")");
  }

  void replace(c10::IValue& value, bool written) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || tensor.device().type() != kDevice) return;
    at::Tensor host = twins_.of(tensor, written);
    if (C10_UNLIKELY(plan_.asks_gradients && tensor.requires_grad())) host.set_requires_grad(true);
    value = std::move(host);
  }

  void replace_list(c10::IValue& value, bool written) {
    c10::List<at::Tensor> hosts;
    hosts.reserve(value.toListRef().size());
    for (const at::Tensor& tensor : value.toTensorVector())
      hosts.push_back(tensor.defined() && tensor.device().type() == kDevice ? twins_.of(tensor, written) : tensor);
    value = std::move(hosts);
  }

  void replace_optional_list(c10::IValue& value, bool written) {
    c10::List<std::optional<at::Tensor>> hosts;
    for (const c10::IValue& item : value.toListRef()) {
      if (!item.isTensor()) {
        hosts.push_back(std::nullopt);
        continue;
      }
      const at::Tensor& tensor = item.toTensor();
      hosts.push_back(tensor.defined() && tensor.device().type() == kDevice ? twins_.of(tensor, written) : tensor);
    }
    value = std::move(hosts);
  }

  const OperatorPlan& plan_;
  torch::jit::Stack* const stack_;
  HostTwins twins_;
  c10::DeviceIndex device_ = -1;
  bool host_tensor_ = false;
  c10::Device other_{c10::kCPU};
};

// The CPU's key of the layout that the call was dispatched for.
c10::DispatchKey cpu_key(c10::DispatchKeySet keys) {
  constexpr c10::DispatchKeySet sparse({c10::DispatchKey::Sparse, c10::DispatchKey::SparseCsr});
  if (C10_LIKELY(!keys.has_any(sparse))) return c10::DispatchKey::CPU;
  const auto layout = c10::toFunctionalityKey(keys.highestPriorityTypeId());
  return c10::toRuntimePerBackendFunctionalityKey(layout, c10::BackendComponent::CPUBit);
}

// PyTorch's ADInplaceOrView layer counts the versions of written tensors, but leaves those in lists to the kernel.
void count_versions(const OperatorPlan& plan, const torch::jit::Stack& stack) {
  for (const auto& argument : plan.interesting) {
    const c10::IValue& value = stack[stack.size() - plan.arguments + argument.position];
    if (!argument.written || !value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector())
      if (tensor.defined() && !tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
  }
}

void run(const OperatorPlan& plan, Route* route, const c10::OperatorHandle& op, c10::DispatchKeySet keys,
         torch::jit::Stack* stack) {
  ensure_initialized();
  match_caller_threads();
  served(route);
  Call call(plan, stack);
  call.find_device();
  if (C10_UNLIKELY(plan.writes_lists)) count_versions(plan, *stack);
  const c10::Stream stream = current_stream(call.device());
  if (C10_UNLIKELY(stream.id() != 0 || !stream_idle(stream))) {
    if (kernels_in_place() && run_queued(plan, op, stack, stream)) return;
    synchronize(stream);
  }
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  DeviceResults results_on(stream);
  call.replace_arguments();
  op.redispatchBoxed(c10::DispatchKeySet(cpu_key(keys)), stack);
  if (plan.writes) call.twins().write_back(stream);
  call.replace_results(stream);
}

}  // namespace

HostKernel::HostKernel(const c10::OperatorHandle& op) : plan_(op), route_(route(plan_.short_name, "cpu")) {}

void HostKernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  run(plan_, route_, op, keys, stack);
}

void host_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  struct Known {
    OperatorPlan plan;
    Route* route;
  };
  static auto* known = new std::unordered_map<c10::OperatorName, std::unique_ptr<Known>>();
  static std::mutex mutex;
  Known* entry = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto& slot = (*known)[op.operator_name()];
    if (!slot) {
      OperatorPlan plan(op);
      Route* counted = route(plan.short_name, "cpu");
      slot = std::make_unique<Known>(Known{std::move(plan), counted});
    }
    entry = slot.get();
  }
  TORCH_CHECK_NOT_IMPLEMENTED(op.hasKernelForDispatchKey(cpu_key(keys)) ||
                                  op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd),
                              "flagos: ", entry->plan.name, " has no kernel for flagos and none for ", cpu_key(keys),
                              " to fall back to");
  run(entry->plan, entry->route, op, keys, stack);
}

}  // namespace torch_fl
