// SPDX-License-Identifier: Apache-2.0
#include "torch_device.h"

#include <dlfcn.h>

#include <filesystem>

#include "device.h"
#include "platform.h"

namespace torch_fl {
namespace {

const TorchDevice* found = nullptr;

// Where PyTorch drives the devices only if the vendor's core of PyTorch is installed, what asks it to is a library of its own.
void* entry_of_own_library() {
  const std::string file = library_folder() + "/libtorch_fl_platform_" + platform().id + "_torch.so";
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) return nullptr;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  TORCH_CHECK(library, "flagos: ", file, " cannot be loaded: ", dlerror(),
              "; it needs the vendor's core of PyTorch: install torch-fl-libtorch for this platform, or remove torch-fl-vendor-kernels");
  void* entry = dlsym(library, FLAGOS_TORCH_DEVICE_ENTRY);
  TORCH_CHECK(entry, "flagos: ", file, " does not export " FLAGOS_TORCH_DEVICE_ENTRY
              "; install torch-fl-vendor-kernels and torch-fl-runtime of one build");
  return entry;
}

}  // namespace

const TorchDevice* torch_device() noexcept { return found; }

void find_torch_device() {
  void* entry = platform_symbol(FLAGOS_TORCH_DEVICE_ENTRY);
  if (!entry) entry = entry_of_own_library();
  if (entry) found = reinterpret_cast<TorchDeviceEntry>(entry)();
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
