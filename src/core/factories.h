// SPDX-License-Identifier: Apache-2.0
// factories.h: aten::empty.memory_format, empty_strided and _efficientzerotensor; arguments as in their schemas.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pinned,
                 std::optional<c10::MemoryFormat> memory_format);
at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pinned);
at::Tensor efficient_zero_tensor(c10::IntArrayRef size, std::optional<at::ScalarType> dtype,
                                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                                 std::optional<bool> pinned);

}  // namespace torch_fl
