// SPDX-License-Identifier: Apache-2.0
// Tensors without contents, and other memory and sizes for those that there are.
#include "tensors.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/fill_native.h>
#include <ATen/ops/set_native.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include "device_memory.h"

namespace emulated_fork {
namespace {

const c10::DispatchKeySet kKeys(c10::DispatchKey::CUDA);

c10::Device checked(std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pinned) {
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
  TORCH_CHECK_NOT_IMPLEMENTED(c10::layout_or_default(layout) == c10::kStrided, "the emulated fork of PyTorch has strided tensors "
                              "only, got ", *layout, "; use a card for it");
  return device && device->has_index() ? *device : c10::Device(c10::kCUDA, c10::cuda::current_device());
}

bool deterministic() {
  return at::globalContext().deterministicAlgorithms() && at::globalContext().deterministicFillUninitializedMemory();
}

at::Tensor filled_if_deterministic(at::Tensor tensor) {
  if (deterministic()) at::native::fill_empty_deterministic_(tensor);
  return tensor;
}

void make_room(const at::Tensor& self) {
  if (self.numel() == 0) return;
  const size_t bytes = at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.itemsize(), self.storage_offset());
  if (bytes > self.storage().nbytes()) resize_storage(*self.storage().unsafeGetStorageImpl(), bytes);
}

}  // namespace

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pinned, std::optional<c10::MemoryFormat> format) {
  const c10::cuda::CUDAGuard there(checked(layout, device, pinned));
  return filled_if_deterministic(at::detail::empty_generic(size, c10::cuda::CUDACachingAllocator::get(), kKeys,
                                                           c10::dtype_or_default(dtype), format));
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device, std::optional<bool> pinned) {
  const c10::cuda::CUDAGuard there(checked(layout, device, pinned));
  return filled_if_deterministic(at::detail::empty_strided_generic(size, stride, c10::cuda::CUDACachingAllocator::get(), kKeys,
                                                                   c10::dtype_or_default(dtype)));
}

at::Tensor efficient_zero_tensor(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                                 std::optional<c10::Device> device, std::optional<bool> pinned) {
  at::native::ZeroTensorAllocator no_memory(checked(layout, device, pinned));
  return at::detail::empty_generic(size, &no_memory, kKeys | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor),
                                   c10::dtype_or_default(dtype), std::nullopt);
}

const at::Tensor& resize_(const at::Tensor& self, c10::IntArrayRef size, std::optional<c10::MemoryFormat> format) {
  const auto old_bytes = static_cast<int64_t>(self.storage().nbytes());
  auto* impl = self.unsafeGetTensorImpl();
  if (self.sizes() != size) {
    at::detail::check_size_nonnegative(size);
    impl->set_sizes_contiguous(size);
    make_room(self);
  }
  if (format) {
    TORCH_CHECK(*format != c10::MemoryFormat::Preserve, "Unsupported memory format", *format);
    impl->empty_tensor_restride(*format);
  }
  if (deterministic()) at::native::fill_resize_deterministic_(self, old_bytes);
  return self;
}

at::Tensor& set_storage_offset_(at::Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  stride.data() ? impl->set_sizes_and_strides(size, stride) : impl->set_sizes_contiguous(size);
  make_room(self);
  return self;
}
at::Tensor& set_tensor_(at::Tensor& self, const at::Tensor& source) { return at::native::set_tensor_(self, source); }
at::Tensor& set_storage_(at::Tensor& self, at::Storage source) { return at::native::set_(self, std::move(source)); }
at::Tensor& set_(at::Tensor& self) { return set_storage_offset_(self, device_storage(0, self.device().index()), 0, {0}, {}); }

void record_stream(at::Tensor& self, c10::Stream stream) {
  c10::cuda::CUDACachingAllocator::recordStream(self.storage().data_ptr(), c10::cuda::CUDAStream(stream));
}

}  // namespace emulated_fork
