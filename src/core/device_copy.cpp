// SPDX-License-Identifier: Apache-2.0
#include "device_copy.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "route_log.h"
#include "slots.h"
#include "target_copy.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

constexpr const char* kName = "_copy_from";
const SlotKernel* kernel = nullptr;

const c10::OperatorHandle& operator_handle() {
  static const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_copy_from", "");
  return handle;
}

}  // namespace

void find_device_copy() {
  for (const auto& slot : known_slots()) {
    const SlotKernel* found = find_kernel(slot, kName);
    if (!found || kernel) continue;
    kernel = found;
    *kernel->route = route(kName, slot, "default");
  }
}

bool has_device_copy() { return kernel || torch_device(); }

bool device_copy(const at::Tensor& source, const at::Tensor& target) {
  if (torch_device()) {
    target_copy(source, target, /*non_blocking=*/false);
    return true;
  }
  if (!kernel) return false;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  try {
    kernel->function.call<at::Tensor, const at::Tensor&, const at::Tensor&, bool>(
        operator_handle(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), source, target, false);
    return true;
  } catch (const Decline&) {
    return false;
  }
}

}  // namespace torch_fl
