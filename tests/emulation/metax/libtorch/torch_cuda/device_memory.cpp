// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <flagos_emulation.h>

namespace emulated_fork {

void* host_address(const void* device) {
  static const ptrdiff_t offset = [] {
    TORCH_CHECK(flagos_emulation_host_offset, "the fork's emulation runs on the emulated MACA runtime alone: put the folder of its "
                "libmcruntime.so in front of the vendor's in LD_LIBRARY_PATH");
    ptrdiff_t bytes = 0;
    TORCH_CHECK(flagos_emulation_host_offset(&bytes) == FLAGOS_SUCCESS, "the emulated MACA runtime has no devices here");
    return bytes;
  }();
  return device ? const_cast<char*>(static_cast<const char*>(device)) + offset : nullptr;
}

c10::Storage device_storage(size_t bytes, c10::DeviceIndex device) {
  const c10::cuda::CUDAGuard there(device);
  auto* allocator = c10::cuda::CUDACachingAllocator::get();
  return {c10::Storage::use_byte_size_t{}, bytes, allocator->allocate(bytes), allocator, /*resizable=*/true};
}

void resize_storage(c10::StorageImpl& storage, size_t bytes) {
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
  const c10::cuda::CUDAGuard there(storage.device());
  c10::DataPtr data = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
  if (const size_t kept = std::min(bytes, storage.nbytes()))
    C10_CUDA_CHECK(cudaMemcpyAsync(data.get(), storage.data(), kept, cudaMemcpyDeviceToDevice, c10::cuda::getCurrentCUDAStream()));
  storage.set_data_ptr_noswap(std::move(data));
  storage.set_nbytes(bytes);
}

void wait_for_current_stream(c10::DeviceIndex device) { c10::cuda::getCurrentCUDAStream(device).synchronize(); }

}  // namespace emulated_fork
