// SPDX-License-Identifier: Apache-2.0
// tensors.h: the kernels of PyTorch's operators of the same names that make and rearrange memory.
#pragma once

#include <ATen/core/Tensor.h>

namespace emulated_fork {

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pinned, std::optional<c10::MemoryFormat> format);
at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pinned);
at::Tensor efficient_zero_tensor(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                                 std::optional<c10::Device> device, std::optional<bool> pinned);
const at::Tensor& resize_(const at::Tensor& self, c10::IntArrayRef size, std::optional<c10::MemoryFormat> format);
at::Tensor& set_(at::Tensor& self);
at::Tensor& set_tensor_(at::Tensor& self, const at::Tensor& source);
at::Tensor& set_storage_(at::Tensor& self, at::Storage source);
at::Tensor& set_storage_offset_(at::Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride);
void record_stream(at::Tensor& self, c10::Stream stream);

}  // namespace emulated_fork
