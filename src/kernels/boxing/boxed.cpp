// SPDX-License-Identifier: Apache-2.0
#include "boxed.h"

#include <ATen/core/List.h>
#include <ATen/core/stack.h>

#include "eligible.h"
#include "operator_plan.h"
#include "written_lists.h"

namespace torch_fl::boxing {
namespace {

using c10::IValue;

// The aliases of one call. The kernel consumes the stack, so this is what keeps arguments and aliases alive: an argument may
// have no other owner (a temporary that resolves a lazy conjugation).
class Aliases {
 public:
  explicit Aliases(Call& call) : call_(call) {}

  IValue passed(const IValue& value, bool written) {
    if (value.isTensor()) return of(value.toTensor(), written);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      list.reserve(value.toListRef().size());
      for (const IValue& item : value.toListRef()) list.push_back(of(item.toTensor(), written));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const IValue& item : value.toListRef())
        list.push_back(!item.isTensor()                ? std::nullopt
                       : is_flagos(item.toTensor()) ? std::optional(of(item.toTensor(), written))
                                                    : std::optional(item.toTensor()));
      return list;
    }
    if (value.isDevice()) return target_device_of(value.toDevice());
    if (value.isGenerator()) return *target_generator_of(value.toGenerator());
    return value;
  }

  void settle() {
    for (const auto& [flagos, alias] : written_) call_.settle(*flagos, alias);
  }

 private:
  at::Tensor of(const at::Tensor& tensor, bool written) {
    if (!tensor.defined()) return tensor;
    if (!is_flagos(tensor)) {
      call_.foreign(tensor, written);
      return tensor;
    }
    at::Tensor alias = call_.alias(tensor);
    written ? void(written_.emplace_back(&tensor, alias)) : read_.push_back(alias);
    return alias;
  }

  Call& call_;
  c10::SmallVector<at::Tensor, 6> read_;
  c10::SmallVector<std::pair<const at::Tensor*, at::Tensor>, 2> written_;
};

IValue returned(Call& call, IValue&& value) {
  if (value.isTensor()) return call.result(std::move(value).toTensor());
  if (!value.isTensorList()) return std::move(value);
  c10::List<at::Tensor> list;
  for (const IValue& item : value.toListRef()) {
    // The list is given up here: a result that nobody else has is relabelled, not copied.
    at::Tensor tensor = std::move(const_cast<IValue&>(item)).toTensor();
    list.push_back(call.result(std::move(tensor)));
  }
  return list;
}

}  // namespace

BoxedKernel::BoxedKernel(const c10::OperatorHandle& op, Route** route)
    : arguments_(op.schema().arguments().size()),
      returns_(op.schema().returns().size()),
      name_(op.schema().name()),
      facts_{name_.c_str(), /*writes_lists=*/false, takes_host_tensors(name_)},
      route_(route) {
  for (const auto& argument : op.schema().arguments())
    written_.push_back(argument.alias_info() && argument.alias_info()->isWrite());
}

void BoxedKernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  served(*route_);
  const std::vector<IValue> given = torch::jit::pop(*stack, arguments_);
  Call call(facts_);
  Aliases aliases(call);
  std::vector<std::vector<at::Tensor>> lists;  // what `written` looks at
  Written written;
  for (size_t i = 0; i < arguments_; ++i) {
    if (written_[i] && given[i].isTensorList()) written.note(lists.emplace_back(given[i].toTensorVector()));
    stack->push_back(aliases.passed(given[i], written_[i]));
  }
  call.require_one_device();
  try {
    op.redispatchBoxed(kTargetKeys, stack);
  } catch (...) {
    aliases.settle();
    rethrow_in_flagos_words();
  }
  aliases.settle();
  written.count();
  for (size_t i = stack->size() - returns_; i < stack->size(); ++i) {
    IValue result = std::move((*stack)[i]);
    (*stack)[i] = returned(call, std::move(result));
  }
}

void add_boxed(KernelTable& table, const c10::OperatorHandle& op) {
  auto** route = new Route*(nullptr);  // as long as the process
  table.add(short_name(op.operator_name()).c_str(),
            SlotKernel{c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<BoxedKernel>(op, route)), std::nullopt, {}, route});
}

}  // namespace torch_fl::boxing
