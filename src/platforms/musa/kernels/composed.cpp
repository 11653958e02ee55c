// SPDX-License-Identifier: Apache-2.0
// Operators that PyTorch composes of others, all of which stand in this slot: with a kernel of their own they would be computed
// on the CPU as a whole. The parts are dispatched, and routed, one by one.
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "kernels.h"

namespace torch_fl::mudnn {
namespace {

using c10::DispatchKey;

// Forms of these that have no kernel of a device's own: numbers as operands, gradients of views, copies.
constexpr std::array<std::string_view, 26> kNames = {
    "add",   "add_",   "sub",  "sub_", "mul",       "mul_",         "div",  "div_",  "rsub",
    "fmod",  "fmod_",  "remainder", "remainder_", "_safe_softmax", "clone", "embedding", "fill", "masked_fill",
    "mean",  "mv",     "repeat", "select_backward", "slice_backward", "sort", "stack", "sum"};

bool listed(std::string_view name) {
  name.remove_prefix(std::string_view("aten::").size());
  return name.starts_with("_foreach_") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

class Composition final : public c10::OperatorKernel {
 public:
  Route* route = nullptr;
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, torch::jit::Stack* stack) {
    served(route);
    // A device type without kernels: what is found for it is PyTorch's composition.
    op.redispatchBoxed(c10::DispatchKeySet(DispatchKey::FPGA), stack);
  }
};

}  // namespace

void add_composed(KernelTable& table) {
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("aten::") || !listed(name.name)) continue;
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (!op || !op->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)) continue;
    if (op->hasKernelForDispatchKey(DispatchKey::CPU)) continue;
    auto kernel = std::make_unique<Composition>();
    Route** route = &kernel->route;
    std::string text = name.name.substr(std::string_view("aten::").size());
    if (!name.overload_name.empty()) text += "." + name.overload_name;
    table.add(text.c_str(),
              SlotKernel{c10::KernelFunction::makeFromBoxedFunctor(std::move(kernel)), std::nullopt, KernelTraits{}, route});
  }
}

}  // namespace torch_fl::mudnn
