// SPDX-License-Identifier: Apache-2.0
// resize.h: changing how much memory a storage has, and which storage a tensor shows.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

// What a storage is said to have, without a change of its memory; a held storage is kept in step.
void set_bytes(c10::StorageImpl& storage, size_t bytes);
void resize_storage(const c10::Storage& storage, size_t bytes);  // keeps what fits; the rest is not set
const at::Tensor& resize_(const at::Tensor& self, c10::IntArrayRef size, std::optional<c10::MemoryFormat> memory_format);
at::Tensor& set_tensor_(at::Tensor& self, const at::Tensor& source);
at::Tensor& set_storage_(at::Tensor& self, at::Storage source);
at::Tensor& set_storage_offset_(at::Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size,
                                c10::IntArrayRef stride);
at::Tensor& set_(at::Tensor& self);  // an empty storage

}  // namespace torch_fl
