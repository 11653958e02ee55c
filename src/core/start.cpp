// SPDX-License-Identifier: Apache-2.0
#include "start.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <set>

#include "allocator.h"
#include "autocast.h"
#include "claims.h"
#include "composed.h"
#include "copy.h"
#include "factories.h"
#include "guard.h"
#include "hooks.h"
#include "host_kernel.h"
#include "pinned.h"
#include "platform.h"
#include "registration.h"
#include "resize.h"
#include "route_log.h"
#include "sparse.h"
#include "views.h"

namespace torch_fl {
namespace {

using c10::DispatchKey;

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

void register_host_kernels(torch::Library& m, const std::map<std::string, std::string>& refused) {
  for_each_aten_operator([&](const c10::OperatorHandle& op) {
    if (op.hasKernelForDispatchKey(DispatchKey::PrivateUse1) || !claimed(op)) return;
    const std::string op_name = short_name(op.operator_name());
    auto origin = refused.find(op_name);
    route(op_name, "cpu", origin == refused.end() ? "default" : origin->second);
    m.impl(op_name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<HostKernel>(op)));
  });
}

[[noreturn]] void no_such_kernel(const RouteRequest& request) {
  const auto operators = slot_operators(request.backend);
  std::string list;
  for (const auto& op : operators) list += (list.empty() ? "" : ", ") + op;
  TORCH_CHECK(false, request.origin, ": slot '", request.backend, "' has no kernel for ", request.op, "; it serves ",
              list.empty() ? "nothing here" : list);
}

void register_operators(const std::vector<RouteRequest>& requests) {
  std::map<std::string, std::string> refused, origins;
  for (const auto& request : requests) {
    if (request.backend == "none") {
      refused[request.op] = request.origin;
      continue;
    }
    const auto operators = slot_operators(request.backend);
    if (std::find(operators.begin(), operators.end(), request.op) == operators.end()) no_such_kernel(request);
    origins[request.op] = request.origin;
  }
  auto& m = registrations("aten", DispatchKey::PrivateUse1);
  register_core_operators(m);
  register_copy_of_lazy_bits();
  for (const auto& op : composed_operators()) {
    if (refused.count(op)) continue;
    auto origin = origins.find(op);
    register_composed(m, op, origin == origins.end() ? "default" : origin->second);
  }
  require_all_views();
  register_host_kernels(m, refused);
  registrations("_", DispatchKey::PrivateUse1).fallback(torch::CppFunction::makeFromBoxedFunction<&host_fallback>());
}

}  // namespace

void start(const std::string& platform_id, const std::vector<RouteRequest>& requests) {
  load_platform(platform_id);
  TORCH_CHECK(platform_has(FLAGOS_CAP_HOST_ALIAS | FLAGOS_CAP_HOST_FUNCTION), "flagos: platform '", platform_id,
              "' cannot run CPU kernels on its memory, which this torch-fl-runtime needs");
  register_allocator();
  register_pinned_allocator();
  register_guard();
  register_hooks();
  register_operators(requests);
  register_sparse();
  register_autocast();
}

std::vector<std::string> known_slots() { return {"host"}; }

std::vector<std::string> slot_operators(const std::string& slot) {
  return slot == "host" ? composed_operators() : std::vector<std::string>{};
}

}  // namespace torch_fl
