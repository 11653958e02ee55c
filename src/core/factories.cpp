// SPDX-License-Identifier: Apache-2.0
// factories.cpp: tensors without contents.
#include "factories.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Context.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/fill_native.h>

#include "allocator.h"

namespace torch_fl {
namespace {

const c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

// Where the tensor goes; throws for what flagos tensors cannot be.
c10::DeviceIndex checked_options(std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                                 std::optional<bool> pinned) {
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
  TORCH_CHECK_NOT_IMPLEMENTED(c10::layout_or_default(layout) == c10::kStrided, "flagos: ", *layout,
                              " tensors are not supported; use torch.strided");
  return checked_index(device.value_or(c10::Device(kDevice)));
}

at::Tensor fill_if_deterministic(at::Tensor tensor) {
  if (C10_UNLIKELY(at::globalContext().deterministicAlgorithms() &&
                   at::globalContext().deterministicFillUninitializedMemory()))
    at::native::fill_empty_deterministic_(tensor);
  return tensor;
}

}  // namespace

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                 std::optional<c10::Device> device, std::optional<bool> pinned,
                 std::optional<c10::MemoryFormat> memory_format) {
  OnDevice there(checked_options(layout, device, pinned));
  return fill_if_deterministic(
      at::detail::empty_generic(size, &allocator(), kKeys, c10::dtype_or_default(dtype), memory_format));
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                         std::optional<bool> pinned) {
  OnDevice there(checked_options(layout, device, pinned));
  return fill_if_deterministic(
      at::detail::empty_strided_generic(size, stride, &allocator(), kKeys, c10::dtype_or_default(dtype)));
}

at::Tensor efficient_zero_tensor(c10::IntArrayRef size, std::optional<at::ScalarType> dtype,
                                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                                 std::optional<bool> pinned) {
  const auto index = checked_options(layout, device, pinned);
  at::native::ZeroTensorAllocator no_memory(c10::Device(kDevice, index));
  return at::detail::empty_generic(size, &no_memory, kKeys | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor),
                                   c10::dtype_or_default(dtype), std::nullopt);
}

}  // namespace torch_fl
