// SPDX-License-Identifier: Apache-2.0
// views.h: operators that only describe the same memory anew. They never touch data, so they suit every platform.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

at::Tensor as_strided(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<int64_t> offset);
at::Tensor view(const at::Tensor& self, c10::IntArrayRef size);
at::Tensor reshape_alias(const at::Tensor& self, c10::IntArrayRef size, c10::IntArrayRef stride);
at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size, int64_t step);
at::Tensor view_as_real(const at::Tensor& self);
at::Tensor view_as_complex(const at::Tensor& self);

// Throws where PyTorch has a view operator that nothing here or in PyTorch's composites serves: a fallback would give a
// detached copy.
void require_all_views();

}  // namespace torch_fl
