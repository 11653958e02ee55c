// SPDX-License-Identifier: Apache-2.0
#include "queued_kernel.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>

#include "generator.h"
#include "host_twins.h"

namespace torch_fl {
namespace {

using Kind = OperatorPlan::Kind;
using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

// The operator's arguments with every tensor put through `map`.
torch::jit::Stack mapped(const OperatorPlan& plan, const torch::jit::Stack& stack, const TensorMap& map) {
  torch::jit::Stack result(stack.end() - static_cast<std::ptrdiff_t>(plan.arguments), stack.end());
  auto optional_map = [&](const at::Tensor& tensor) { return tensor.defined() ? map(tensor) : tensor; };
  for (const auto& argument : plan.interesting) {
    c10::IValue& value = result[argument.position];
    if (argument.kind == Kind::tensor && value.isTensor()) {
      value = optional_map(value.toTensor());
    } else if (argument.kind == Kind::tensor_list && value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(optional_map(tensor));
      value = std::move(list);
    } else if (argument.kind == Kind::optional_tensor_list && value.isList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const c10::IValue& item : value.toListRef())
        list.push_back(item.isTensor() ? std::make_optional(optional_map(item.toTensor())) : std::nullopt);
      value = std::move(list);
    }
  }
  return result;
}

// Twins without data, for the operator's Meta kernel; tensors that share memory share it here too.
class MetaTwins {
 public:
  at::Tensor of(const at::Tensor& tensor) {
    // A Python number stays what it is: Meta kernels written in Python unwrap it, and insist on a CPU tensor.
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return tensor;
    for (auto& [original, meta] : pairs_)
      if (original.is_same(tensor)) return meta;
    auto* impl = tensor.storage().unsafeGetStorageImpl();
    c10::Storage storage;
    for (auto& [original, meta] : storages_)
      if (original == impl) storage = meta;
    if (!storage) {
      storage = c10::Storage(c10::Storage::use_byte_size_t{}, impl->nbytes(), c10::DataPtr(nullptr, c10::Device(c10::kMeta)),
                             c10::GetAllocator(c10::kMeta), true);
      storages_.emplace_back(impl, storage);
    }
    auto meta = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::Meta),
                                                         tensor.dtype());
    meta.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
    pairs_.emplace_back(tensor, meta);
    return meta;
  }

  // The argument that a result is; undefined for a new tensor.
  at::Tensor argument(const at::Tensor& result) const {
    for (auto& [original, meta] : pairs_)
      if (meta.is_same(result)) return original;
    return {};
  }

  bool shares_memory(const at::Tensor& result) const {
    for (auto& [original, meta] : storages_)
      if (meta.is_alias_of(result.storage())) return true;
    return false;
  }

  bool resized() const {
    for (auto& [original, meta] : pairs_)
      if (original.sizes() != meta.sizes() || original.strides() != meta.strides()) return true;
    return false;
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
  std::vector<std::pair<c10::StorageImpl*, c10::Storage>> storages_;
};

bool queueable(const OperatorPlan& plan, const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (plan.gives_values || !op.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta)) return false;
  bool strided = true;
  mapped(plan, stack, [&](const at::Tensor& tensor) {
    strided &= tensor.layout() == c10::kStrided && !tensor.is_conj() && !tensor.is_neg() && !tensor.is_quantized() &&
               !tensor._is_zerotensor();
    return tensor;
  });
  return strided;
}

// A device tensor of the shape that `meta` says, and the list of its like that the queued kernel has to fill.
at::Tensor new_result(const at::Tensor& meta, c10::Device device) {
  return at::empty_strided(meta.sizes(), meta.strides(), meta.options().device(device));
}

void queue(const OperatorPlan& plan, const c10::OperatorHandle& op, torch::jit::Stack arguments,
           std::vector<std::pair<size_t, at::Tensor>> targets, c10::Stream stream) {
  const size_t returns = plan.returns;
  launch(stream, [op, arguments = std::move(arguments), targets = std::move(targets), returns, stream]() mutable {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    DeviceResults results_on(stream, DeviceResults::When::in_stream_order);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &arguments);
    size_t item = 0, target = 0;
    for (size_t i = arguments.size() - returns; i < arguments.size(); ++i) {
      const auto results = arguments[i].isTensor() ? std::vector<at::Tensor>{arguments[i].toTensor()}
                                                   : arguments[i].toTensorVector();
      for (const at::Tensor& result : results) {
        if (target < targets.size() && targets[target].first == item) targets[target++].second.copy_(result);
        ++item;
      }
    }
    arguments.clear();
    targets.clear();
  });
}

// What a queued operator leaves on the stack, and where its kernel puts it.
struct Results {
  torch::jit::Stack values;
  std::vector<std::pair<size_t, at::Tensor>> targets;  // position among all result tensors, CPU twin to fill
};

// Elementwise draws, `x.normal_()`: the result is the argument. One element of its data type tells wrong arguments.
bool draws_in_place(const OperatorPlan& plan) {
  const auto tensors = std::count_if(plan.interesting.begin(), plan.interesting.end(),
                                     [](const auto& argument) { return argument.kind != Kind::generator; });
  return plan.random && plan.writes && tensors == 1 && plan.returns == 1 && plan.interesting[0].kind == Kind::tensor;
}

std::optional<Results> results_of_draw(const OperatorPlan& plan, const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  static thread_local const at::Generator unused = at::detail::createCPUGenerator();
  at::Tensor drawn;
  torch::jit::Stack trial = mapped(plan, stack, [&drawn](const at::Tensor& tensor) {
    drawn = tensor;
    return at::empty({1}, tensor.options().device(c10::kCPU));
  });
  for (const auto& argument : plan.interesting)
    if (argument.kind == Kind::generator) trial[argument.position] = unused;
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &trial);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return Results{{drawn}, {}};
}

// Asks the operator's Meta kernel. Nothing where the shapes depend on data or the arguments are wrong: the CPU kernel says
// how, in the CPU's words; and for views and sparse tensors, which no queued kernel fills.
std::optional<Results> results_of(const OperatorPlan& plan, const c10::OperatorHandle& op, const torch::jit::Stack& stack,
                                  c10::Device device, HostTwins& twins) {
  if (draws_in_place(plan)) return results_of_draw(plan, op, stack);
  MetaTwins meta_twins;
  torch::jit::Stack meta = mapped(plan, stack, [&](const at::Tensor& tensor) { return meta_twins.of(tensor); });
  for (const auto& argument : plan.interesting)
    if (argument.kind == Kind::device || argument.kind == Kind::generator)
      meta[argument.position] = argument.kind == Kind::device ? c10::IValue(c10::Device(c10::kMeta)) : c10::IValue();
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &meta);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (meta_twins.resized()) return std::nullopt;

  Results results;
  size_t item = 0;
  bool immediate = false;
  auto settle = [&](const at::Tensor& made) -> at::Tensor {
    const size_t position = item++;
    if (!made.defined()) return made;
    if (at::Tensor same = meta_twins.argument(made); same.defined()) return same;
    if (made.layout() != c10::kStrided || meta_twins.shares_memory(made)) {
      immediate = true;
      return made;
    }
    at::Tensor fresh = new_result(made, device);
    results.targets.emplace_back(position, twins.of(fresh, true));
    return fresh;
  };
  for (size_t i = meta.size() - plan.returns; i < meta.size(); ++i) {
    if (meta[i].isTensor()) {
      results.values.emplace_back(settle(meta[i].toTensor()));
    } else {
      c10::List<at::Tensor> list;
      for (const at::Tensor& made : meta[i].toTensorVector()) list.push_back(settle(made));
      results.values.emplace_back(std::move(list));
    }
  }
  if (immediate) return std::nullopt;
  return results;
}

}  // namespace

bool run_queued(const OperatorPlan& plan, const c10::OperatorHandle& op, torch::jit::Stack* stack, c10::Stream stream) {
  if (!queueable(plan, op, *stack)) return false;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::Device device = stream.device();
  HostTwins twins;
  auto results = results_of(plan, op, *stack, device, twins);
  if (!results) return false;

  // CPU operands are copied now: the caller may change them before the stream gets there.
  torch::jit::Stack arguments = mapped(plan, *stack, [&](const at::Tensor& tensor) {
    return tensor.device().type() == kDevice ? twins.of(tensor, true) : tensor.clone();
  });
  for (const auto& argument : plan.interesting) {
    c10::IValue& value = arguments[argument.position];
    if (argument.kind == Kind::device && value.isDevice()) value = c10::Device(c10::kCPU);
    if (argument.kind == Kind::generator) value = cpu_generator(value, device.index(), draws_of(plan, *stack));
  }
  queue(plan, op, std::move(arguments), std::move(results->targets), stream);
  torch::jit::drop(*stack, plan.arguments);
  for (auto& result : results->values) stack->push_back(std::move(result));
  return true;
}

}  // namespace torch_fl
