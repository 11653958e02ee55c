// SPDX-License-Identifier: Apache-2.0
// flagos_target.h: from flagos tensors to tensors of the target (flagos_torch_device.h) and back. Inline, since a call of a
// kernel needs it for each of its tensors. `target` may be a constant, which the compiler then folds.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_efficientzerotensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/TensorImpl.h>

#include "flagos_torch_device.h"

namespace torch_fl {

inline constexpr c10::DeviceType kFlagos = c10::DeviceType::PrivateUse1;

inline bool is_flagos(const at::Tensor& tensor) {
  return tensor.defined() && tensor.key_set().has_backend(c10::BackendComponent::PrivateUse1Bit);
}

// A CPU that plays the target has no index: it is device 0.
inline c10::Device as_target(c10::Device flagos, c10::DeviceType target) {
  return {target, target == c10::DeviceType::CPU ? c10::DeviceIndex(-1) : flagos.index()};
}
inline c10::Device as_flagos(c10::Device target) {
  return {kFlagos, target.type() == c10::DeviceType::CPU ? c10::DeviceIndex(0) : target.index()};
}
inline c10::Stream as_target(c10::Stream flagos, c10::DeviceType target) {
  return c10::Stream(c10::Stream::UNSAFE, as_target(flagos.device(), target), flagos.id());
}
inline c10::Stream as_flagos(c10::Stream target) {
  return c10::Stream(c10::Stream::UNSAFE, as_flagos(target.device()), target.id());
}

// PyTorch's own function for it is not exported.
constexpr c10::BackendComponent backend_of(c10::DeviceType type) {
  switch (type) {
#define TORCH_FL_CASE(name, unused) \
  case c10::DeviceType::name:       \
    return c10::toBackendComponent(c10::DispatchKey::name);
    C10_FORALL_BACKEND_DEVICE_TYPES(TORCH_FL_CASE, unused)
#undef TORCH_FL_CASE
    default:
      return c10::BackendComponent::InvalidBit;
  }
}

// The same set with one backend in another's place; what is per backend (dense, autograd) goes with it.
inline c10::DispatchKeySet exchanged(c10::DispatchKeySet keys, c10::BackendComponent from, c10::BackendComponent to) {
  keys = (keys - c10::getAutocastRelatedKeySetFromBackend(from)).remove_backend(from);
  return keys | c10::getAutocastRelatedKeySetFromBackend(to) | c10::DispatchKeySet(to);
}

// A storage of the target with the memory of a flagos storage.
inline c10::Storage as_target(const c10::Storage& flagos) {
  c10::StorageImpl& impl = *flagos.unsafeGetStorageImpl();
  c10::StorageImpl* target = held(impl);
  if (__builtin_expect(!target, 0)) return borrowed(impl);
  return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(target));
}

// A flagos storage that holds `target`. One storage of the target has one of ours: who may meet it twice keeps the first.
inline c10::Storage as_flagos(c10::intrusive_ptr<c10::StorageImpl> target) {
  const size_t bytes = target->nbytes();
  const bool resizable = target->resizable();
  return {c10::Storage::use_byte_size_t{}, bytes, hold(std::move(target)), c10::GetAllocator(kFlagos), resizable};
}

// Fields of a tensor that PyTorch's interface sets only together with others, or with checks that a fresh tensor does not need.
struct TensorFields : c10::TensorImpl {
  static c10::Storage& storage(c10::TensorImpl& tensor) { return tensor.*(&TensorFields::storage_); }
  static c10::DispatchKeySet& keys(c10::TensorImpl& tensor) { return tensor.*(&TensorFields::key_set_); }
  static std::optional<c10::Device>& device(c10::TensorImpl& tensor) { return tensor.*(&TensorFields::device_opt_); }
};

// A fresh tensor of the target that shows the same elements of the same memory. Of autograd it has the version counter alone, the
// same one: kernels count the writes to tensors in lists themselves.
inline at::Tensor as_target(const at::Tensor& flagos, c10::DeviceType target) {
  const c10::TensorImpl& from = *flagos.unsafeGetTensorImpl();
  if (__builtin_expect(flagos._is_zerotensor(), 0))
    return at::_efficientzerotensor(flagos.sizes(), flagos.options().device(as_target(flagos.device(), target)));
  auto made = from.c10::TensorImpl::shallow_copy_and_detach(from.version_counter(), /*allow_tensor_metadata_change=*/true);
  TensorFields::keys(*made) = exchanged(from.key_set() - c10::python_ks, c10::BackendComponent::PrivateUse1Bit, backend_of(target));
  TensorFields::storage(*made) = as_target(from.storage());
  TensorFields::device(*made) = made->unsafe_storage().device();
  return at::Tensor(std::move(made));
}

// Turns a strided tensor of the target that nobody else has seen yet into a flagos one, over `storage`, which holds its memory.
inline at::Tensor as_flagos(at::Tensor fresh, c10::Storage storage) {
  c10::TensorImpl& impl = *fresh.unsafeGetTensorImpl();
  impl.set_allow_tensor_metadata_change(true);
  const c10::Device device = storage.device();
  impl.set_storage_keep_dtype(std::move(storage));
  impl._change_backend_component_keys(device);
  return fresh;
}
inline at::Tensor as_flagos(at::Tensor fresh) {
  if (__builtin_expect(fresh._is_zerotensor(), 0))
    return at::_efficientzerotensor(fresh.sizes(), fresh.options().device(as_flagos(fresh.device())));
  auto target = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(fresh.storage().unsafeGetStorageImpl());
  return as_flagos(std::move(fresh), as_flagos(std::move(target)));
}

// Carries new memory and a new size of the held storage (resize_, out= that is resized) over to the storage that holds it.
inline void follow(c10::StorageImpl& flagos) {
  c10::StorageImpl* target = held(flagos);
  if (!target) return;
  if (target->data() != flagos.data())
    flagos.set_data_ptr_noswap(hold(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(target)));
  if (target->nbytes() != flagos.nbytes()) flagos.set_nbytes(target->nbytes());
}

}  // namespace torch_fl
