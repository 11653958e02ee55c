// SPDX-License-Identifier: Apache-2.0
#include "chain_kernel.h"

#include "claims.h"
#include "composite_route.h"
#include "route_log.h"

namespace torch_fl {
namespace {

// The chains that this thread is inside of, and at which step.
struct Inside {
  const ChainKernel* chain;
  size_t step;
};

std::vector<Inside>& inside() {
  static thread_local std::vector<Inside> stack;
  return stack;
}

struct Entered {
  Entered(const ChainKernel* chain, size_t step) { inside().push_back({chain, step}); }
  ~Entered() { inside().pop_back(); }
};

size_t first_step(const ChainKernel* chain) {
  const auto& active = inside();
  for (auto it = active.rbegin(); it != active.rend(); ++it)
    if (it->chain == chain) return it->step + 1;
  return 0;
}

}  // namespace

ChainKernel::ChainKernel(const c10::OperatorHandle& op, std::vector<ChainStep> steps) : plan_(op), steps_(std::move(steps)) {
  if (claimed(op)) host_ = std::make_unique<HostKernel>(op);
}

void ChainKernel::last(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (host_) return (*host_)(op, keys, stack);
  call_composition(op, stack);
}

void ChainKernel::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  for (size_t i = first_step(this); i < steps_.size(); ++i) {
    const ChainStep& step = steps_[i];
    const bool applies = std::all_of(step.conditions.begin(), step.conditions.end(),
                                     [&](const Condition& condition) { return condition.holds(plan_, *stack); });
    if (!applies) continue;
    const Entered entered(this, i);
    if (!step.kernel->traits.may_decline) return step.kernel->function.callBoxed(op, keys, stack);
    // The kernel may have taken its arguments from the stack before it declines.
    const auto below = static_cast<std::ptrdiff_t>(stack->size() - plan_.arguments);
    const torch::jit::Stack arguments(stack->begin() + below, stack->end());
    try {
      return step.kernel->function.callBoxed(op, keys, stack);
    } catch (const Decline& decline) {
      log_declined(plan_.short_name, step.backend, decline.what());
      stack->resize(below);
      stack->insert(stack->end(), arguments.begin(), arguments.end());
    }
  }
  const Entered entered(this, steps_.size());
  last(op, keys, stack);
}

}  // namespace torch_fl
