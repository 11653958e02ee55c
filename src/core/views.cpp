// SPDX-License-Identifier: Apache-2.0
#include "views.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

#include "operator_plan.h"

namespace torch_fl {

// PyTorch's own functions, which look at sizes and strides only.
at::Tensor as_strided(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}
at::Tensor view(const at::Tensor& self, c10::IntArrayRef size) { return at::native::view(self, size); }
at::Tensor reshape_alias(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return at::native::unfold(self, dimension, size, step);
}
at::Tensor view_as_real(const at::Tensor& self) { return at::native::view_as_real(self); }
at::Tensor view_as_complex(const at::Tensor& self) { return at::native::view_as_complex(self); }

void require_all_views() {
  using c10::DispatchKey;
  for_each_aten_operator([](const c10::OperatorHandle& op) {
    if (!op.hasKernelForDispatchKey(DispatchKey::CPU)) return;
    bool view = false;
    for (const auto& result : op.schema().returns()) view |= result.alias_info() && !result.alias_info()->isWrite();
    // Nested tensors have a key of their own.
    if (!view || op.schema().name() == "aten::_nested_view_from_buffer") return;
    TORCH_CHECK(op.hasKernelForDispatchKey(DispatchKey::PrivateUse1) ||
                    op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
                    op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd),
                "flagos: this PyTorch has a view operator that torch-fl-runtime does not know: ",
                full_name(op.operator_name()), "; install the torch-fl-runtime built for this PyTorch");
  });
}

}  // namespace torch_fl
