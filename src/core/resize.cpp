// SPDX-License-Identifier: Apache-2.0
#include "resize.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/set_native.h>

#include "allocator.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

bool is_deterministic() {
  return at::globalContext().deterministicAlgorithms() && at::globalContext().deterministicFillUninitializedMemory();
}

// Room in the tensor's storage for its sizes and strides.
void make_room(const at::Tensor& self) {
  if (self.numel() == 0) return;
  const size_t bytes =
      at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.itemsize(), self.storage_offset());
  if (bytes > self.storage().nbytes()) resize_storage(self.storage(), bytes);
}

}  // namespace

void set_bytes(c10::StorageImpl& storage, size_t bytes) {
  if (auto* target = held(storage)) target->set_nbytes(bytes);
  storage.set_nbytes(bytes);
}

void resize_storage(const c10::Storage& storage, size_t bytes) {
  auto* impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->resizable(), "Trying to resize storage that is not resizable");
  const auto stream = current_stream(storage.device().index());
  auto data = allocator().allocate_on(bytes, stream);
  const size_t kept = std::min(bytes, impl->nbytes());
  if (kept) queue_copy(data.get(), impl->data(), kept, FLAGOS_COPY_DEVICE_TO_DEVICE, stream, "copy device memory");
  impl->set_data_ptr_noswap(std::move(data));
  impl->set_nbytes(bytes);
}

const at::Tensor& resize_(const at::Tensor& self, c10::IntArrayRef size, std::optional<c10::MemoryFormat> memory_format) {
  const auto old_bytes = static_cast<int64_t>(self.storage().nbytes());
  auto* impl = self.unsafeGetTensorImpl();
  if (self.sizes() != size) {
    at::detail::check_size_nonnegative(size);
    impl->set_sizes_contiguous(size);
    make_room(self);
  }
  if (memory_format) {
    TORCH_CHECK(*memory_format != c10::MemoryFormat::Preserve, "Unsupported memory format", *memory_format);
    impl->empty_tensor_restride(*memory_format);
  }
  if (C10_UNLIKELY(is_deterministic())) at::native::fill_resize_deterministic_(self, old_bytes);
  return self;
}

at::Tensor& set_storage_offset_(at::Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size,
                                c10::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  if (stride.data()) {
    impl->set_sizes_and_strides(size, stride);
  } else {
    impl->set_sizes_contiguous(size);
  }
  make_room(self);
  return self;
}

at::Tensor& set_tensor_(at::Tensor& self, const at::Tensor& source) { return at::native::set_tensor_(self, source); }
at::Tensor& set_storage_(at::Tensor& self, at::Storage source) { return at::native::set_(self, std::move(source)); }

at::Tensor& set_(at::Tensor& self) {
  c10::Storage none(c10::Storage::use_byte_size_t{}, 0, allocator().allocate_on(0, current_stream(self.device().index())),
                    &allocator(), /*resizable=*/true);
  return set_storage_offset_(self, std::move(none), 0, {0}, {});
}

}  // namespace torch_fl
