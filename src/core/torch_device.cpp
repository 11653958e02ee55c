// SPDX-License-Identifier: Apache-2.0
#include "torch_device.h"

#include "device.h"
#include "platform.h"

namespace torch_fl {
namespace {

const TorchDevice* found = nullptr;

}  // namespace

const TorchDevice* torch_device() noexcept { return found; }

void find_torch_device() {
  auto entry = reinterpret_cast<TorchDeviceEntry>(platform_symbol(FLAGOS_TORCH_DEVICE_ENTRY));
  if (entry) found = entry();
}

c10::Device started(c10::Device flagos) { return {kFlagos, checked_index(flagos)}; }

c10::DataPtr hold(c10::intrusive_ptr<c10::StorageImpl> target) {
  const c10::Device device = as_flagos(target->device());
  void* address = const_cast<void*>(target->data());
  return {address, target.release(), &release_held, device};
}

void release_held(void* target) {
  // The parent's memory; and the lock of PyTorch's allocator may be held by a thread that a forked child does not have.
  if (in_bad_fork()) return;
  c10::intrusive_ptr<c10::StorageImpl>::reclaim(static_cast<c10::StorageImpl*>(target));
}

c10::Storage borrowed(c10::StorageImpl& flagos) {
  c10::DataPtr memory(const_cast<void*>(flagos.data()), as_target(flagos.device()));
  return {c10::Storage::use_byte_size_t{}, flagos.nbytes(), std::move(memory), nullptr, /*resizable=*/false};
}

}  // namespace torch_fl
