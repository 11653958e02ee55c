// SPDX-License-Identifier: Apache-2.0
#include "start.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <map>

#include "allocator.h"
#include "autocast.h"
#include "chain_kernel.h"
#include "claims.h"
#include "composite_route.h"
#include "copy.h"
#include "device_copy.h"
#include "factories.h"
#include "guard.h"
#include "hooks.h"
#include "host_kernel.h"
#include "pinned.h"
#include "platform.h"
#include "profiler.h"
#include "registration.h"
#include "resize.h"
#include "route_log.h"
#include "slots.h"
#include "sparse.h"
#include "torch_device.h"
#include "views.h"

namespace torch_fl {
namespace {

using c10::DispatchKey;

constexpr const char* kFrontOrigin = "in front of every route";

void record_stream(at::Tensor& self, c10::Stream stream) { allocator().recordStream(self.storage().data_ptr(), stream); }

// Lets `parameter.data = tensor` and Module.to() move parameters between the CPU and flagos in place.
bool has_compatible_shallow_copy_type(const at::Tensor&, const at::Tensor&) { return true; }

void register_core_operators(torch::Library& m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_efficientzerotensor", TORCH_FN(efficient_zero_tensor));
  m.impl("as_strided", TORCH_FN(as_strided));
  m.impl("view", TORCH_FN(view));
  m.impl("_reshape_alias", TORCH_FN(reshape_alias));
  m.impl("unfold", TORCH_FN(unfold));
  m.impl("view_as_real", TORCH_FN(view_as_real));
  m.impl("view_as_complex", TORCH_FN(view_as_complex));
  m.impl("resize_", TORCH_FN(resize_));
  m.impl("set_.source_Tensor", TORCH_FN(set_tensor_));
  m.impl("set_.source_Storage", TORCH_FN(set_storage_));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage_offset_));
  m.impl("set_", TORCH_FN(set_));
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("_local_scalar_dense", TORCH_FN(local_scalar_dense));
  m.impl("record_stream", TORCH_FN(record_stream));
  m.impl("_has_compatible_shallow_copy_type", TORCH_FN(has_compatible_shallow_copy_type));
}

// The bits are resolved by the copy itself, which sees both sides.
void register_copy_of_lazy_bits() {
  registrations("aten", DispatchKey::Conjugate).impl("_copy_from", torch::CppFunction::makeFallthrough());
  registrations("aten", DispatchKey::Negative).impl("_copy_from", torch::CppFunction::makeFallthrough());
}

// Puts what serves an operator into PyTorch's table, behind the kernel that wants to see its calls first.
void register_kernel(const c10::OperatorHandle& op, c10::KernelFunction kernel,
                     std::optional<c10::impl::CppSignature> signature, std::string backend) {
  const std::string name = short_name(op.operator_name());
  if (const auto [slot, front] = find_front(name); front) {
    *front->route = route(name, slot, kFrontOrigin);
    *front->rest = {op, std::move(kernel)};
    kernel = front->function;
    signature = front->signature;
    backend = slot;
  }
  if (!kernel.isValid()) return;
  static auto* kept = new std::vector<c10::RegistrationHandleRAII>();
  kept->push_back(c10::Dispatcher::singleton().registerImpl(op.operator_name(), DispatchKey::PrivateUse1, std::move(kernel),
                                                            std::move(signature), nullptr, "torch_fl slot " + backend));
}

// Gives an operator to the CPU's kernel where that can serve it.
void register_host_kernel(const c10::OperatorHandle& op, const std::string& origin) {
  c10::KernelFunction kernel;
  if (claimed(op)) {
    route(short_name(op.operator_name()), "cpu", origin);
    kernel = c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<HostKernel>(op));
  }
  register_kernel(op, std::move(kernel), std::nullopt, "cpu");
}

[[noreturn]] void no_such_kernel(const RouteRequest& request, const std::string& slot) {
  std::string list;
  for (const auto& op : slot_operators(slot)) list += (list.empty() ? "" : ", ") + op;
  TORCH_CHECK(false, request.origin, ": slot '", slot, "' has no kernel for ", request.op, "; it serves ",
              list.empty() ? "nothing here" : list);
}

// The steps that have a kernel, up to `none`.
std::vector<ChainStep> resolved(const c10::OperatorHandle& op, const RouteRequest& request) {
  std::vector<ChainStep> steps;
  for (const RouteStep& step : request.chain) {
    if (step.backend == "none") break;
    const SlotKernel* kernel = find_kernel(step.backend, request.op);
    if (!kernel) no_such_kernel(request, step.backend);
    *kernel->route = route(request.op, step.backend, request.origin);
    if (kernel->traits.chosen) kernel->traits.chosen();
    auto& made = steps.emplace_back(ChainStep{step.backend, {}, kernel});
    for (const auto& text : step.conditions) {
      try {
        made.conditions.emplace_back(text, op.schema());
      } catch (const c10::Error& error) {
        TORCH_CHECK_VALUE(false, request.origin, ": ", request.op, ": ", error.what_without_backtrace());
      }
    }
  }
  return steps;
}

// A kernel that serves every call stands in PyTorch's table itself; else the chain does.
void register_route(const c10::OperatorHandle& op, const RouteRequest& request) {
  auto steps = resolved(op, request);
  if (steps.empty()) return register_host_kernel(op, request.origin);
  if (is_composite(op)) {
    static auto& above = registrations("aten", DispatchKey::AutogradPrivateUse1);
    const bool differentiable = std::all_of(steps.begin(), steps.end(),
                                            [](const ChainStep& step) { return step.kernel->traits.differentiable; });
    above.impl(request.op.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<CompositeRoute>(differentiable)));
  }
  const ChainStep& first = steps.front();
  if (first.conditions.empty() && !first.kernel->traits.may_decline)
    return register_kernel(op, first.kernel->function, first.kernel->signature, first.backend);
  if (claimed(op)) route(request.op, "cpu", request.origin);
  register_kernel(op, c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<ChainKernel>(op, std::move(steps))),
                  std::nullopt, "chain");
}

// What no line of a routing file names: the first slot that has a kernel, else the CPU's.
RouteRequest default_route(const std::string& op, const std::vector<std::string>& slots) {
  for (const auto& slot : slots) {
    const SlotKernel* kernel = find_kernel(slot, op);
    if (kernel && !kernel->traits.by_request) return {op, {{slot, {}}}, "default"};
  }
  return {op, {{"none", {}}}, "default"};
}

void register_operators(const std::vector<RouteRequest>& requests) {
  std::map<std::string, RouteRequest> asked;
  for (const auto& request : requests) asked.emplace(request.op, request);
  const auto slots = known_slots();
  auto& m = registrations("aten", DispatchKey::PrivateUse1);
  register_core_operators(m);
  register_copy_of_lazy_bits();
  require_all_views();
  for_each_aten_operator([&](const c10::OperatorHandle& op) {
    const std::string name = short_name(op.operator_name());
    const auto found = asked.find(name);
    if (op.hasKernelForDispatchKey(DispatchKey::PrivateUse1)) {
      TORCH_CHECK(found == asked.end(), found->second.origin, ": ", name,
                  " is the core's own, which owns memory and views, and has no route; remove the line");
      return;
    }
    register_route(op, found == asked.end() ? default_route(name, slots) : found->second);
  });
  find_device_copy();
  registrations("_", DispatchKey::PrivateUse1).fallback(torch::CppFunction::makeFromBoxedFunction<&host_fallback>());
}

}  // namespace

void start(const std::string& platform_id, const std::vector<RouteRequest>& requests) {
  load_platform(platform_id);
  find_torch_device();
  register_allocator();
  register_pinned_allocator();
  register_guard();
  register_hooks();
  register_operators(requests);
  register_sparse();
  register_autocast();
  register_profiler();
}

}  // namespace torch_fl
