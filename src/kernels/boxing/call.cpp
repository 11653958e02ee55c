// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torch_fl::boxing {
namespace {

bool same_geometry(const c10::TensorImpl& one, const c10::TensorImpl& other) {
  return one.sizes() == other.sizes() && one.strides() == other.strides() && one.storage_offset() == other.storage_offset();
}

}  // namespace

at::Tensor Call::alias(const at::Tensor& flagos) {
  c10::TensorImpl* const impl = flagos.unsafeGetTensorImpl();
  for (const Seen& seen : seen_)
    if (seen.flagos->unsafeGetTensorImpl() == impl) return at::Tensor(c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(seen.target));
  return remember(flagos);
}

at::Tensor Call::remember(const at::Tensor& flagos) {
  at::Tensor target = as_target(flagos, kTarget);
  seen_.push_back({&flagos, target.unsafeGetTensorImpl()});
  if constexpr (kTarget == c10::DeviceType::CPU) {  // which has no index: a card's kernels compare those of their arguments
    if (!device_) device_ = flagos.device();
    if (flagos.device() != *device_) other_ = flagos.device();
  }
  return target;
}

void Call::foreign(const at::Tensor& other, bool written) {
  if (other.device().type() != kTarget) return;
  if (kTarget == c10::DeviceType::CPU && op_.host_beside && !written) return;
  if (kTarget == c10::DeviceType::CPU && other.dim() == 0 && !written) return;
  other_ = other.device();
}

at::Tensor Call::result(at::Tensor target) {
  if (!target.defined() || target.device().type() != kTarget) return target;
  const bool unshared = target.use_count() == 1 && target.unsafeGetTensorImpl()->unsafe_storage().use_count() == 1;
  if (__builtin_expect(unshared, 1)) return as_flagos(std::move(target));
  return shared_result(std::move(target));
}

std::vector<at::Tensor> Call::result(std::vector<at::Tensor> targets) {
  for (at::Tensor& target : targets) target = result(std::move(target));
  return targets;
}

void Call::complain() const {
  const c10::Device first = device_          ? *device_
                            : seen_.empty() ? c10::Device(kFlagos, c10::impl::getDeviceGuardImpl(kFlagos)->getDevice().index())
                                            : seen_.front().flagos->device();
  TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, ", first, " and ", *other_,
              "! (when calling ", op_.name, ")");
}

const at::Tensor* Call::original(const at::Tensor& target) const {
  for (const Seen& seen : seen_)
    if (seen.target == target.unsafeGetTensorImpl()) return seen.flagos;
  return nullptr;
}

// The flagos storage with the memory of `target`: an argument's, an earlier result's, or a new one.
c10::Storage Call::flagos_storage(const c10::Storage& target) {
  const c10::StorageImpl* const impl = target.unsafeGetStorageImpl();
  for (const Seen& seen : seen_)
    if (seen.target->has_storage() && seen.target->unsafe_storage().unsafeGetStorageImpl() == impl) {
      const c10::Storage& own = seen.flagos->storage();
      // A written tensor may have been given other memory since.
      if (const c10::StorageImpl* theirs = held(*own.unsafeGetStorageImpl()); !theirs || theirs == impl) return own;
    }
  for (const c10::Storage& made : made_)
    if (held(*made.unsafeGetStorageImpl()) == impl) return made;
  made_.push_back(as_flagos(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(target.unsafeGetStorageImpl())));
  return made_.back();
}

at::Tensor Call::shared_result(at::Tensor target) {
  if (const at::Tensor* given = original(target)) return *given;
  if (target.layout() == c10::kSparse) {
    at::Tensor made = at::_sparse_coo_tensor_unsafe(result(target._indices()), result(target._values()), target.sizes());
    return made._coalesced_(target.is_coalesced());
  }
  if (target._is_zerotensor() || target.layout() != c10::kStrided) {
    TORCH_CHECK_NOT_IMPLEMENTED(target.layout() == c10::kStrided, "flagos: ", op_.name, " gives a ", target.layout(),
                                " tensor here, which is not supported; call it on the CPU's tensors");
    return as_flagos(std::move(target));
  }
  c10::Storage storage = flagos_storage(target.storage());
  if (target.use_count() > 1)  // somebody else has it too: theirs stays as it is
    target = at::Tensor(target.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), true));
  return as_flagos(std::move(target), std::move(storage));
}

void Call::settle(const at::Tensor& flagos, const at::Tensor& target) {
  c10::TensorImpl& to = *flagos.unsafeGetTensorImpl();
  const c10::TensorImpl& from = *target.unsafeGetTensorImpl();
  if (!to.has_storage() || !from.has_storage()) return;
  c10::StorageImpl& own = *to.unsafe_storage().unsafeGetStorageImpl();
  if (const c10::StorageImpl* before = held(own)) {
    if (__builtin_expect(before == from.unsafe_storage().unsafeGetStorageImpl(), 1)) {
      follow(own);
    } else {
      to.set_storage_keep_dtype(flagos_storage(from.unsafe_storage()));
    }
  }
  if (__builtin_expect(!same_geometry(to, from), 0)) to.set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

std::optional<at::Generator> target_generator_of(const std::optional<at::Generator>& flagos) {
  if (!flagos || !flagos->defined()) return flagos;
  TORCH_CHECK(flagos->device().type() == kFlagos, "Expected a '", kFlagos, "' device type for generator but found '",
              flagos->device().type(), "'");
  return target_generator(*flagos);
}

}  // namespace torch_fl::boxing
