// SPDX-License-Identifier: Apache-2.0
// Device and page-locked memory straight from the runtime, and copies. Tensors do not lie in it: theirs is PyTorch's. The extent
// of a block stays unknown (size 0).
#include "error.h"

#include "on_device.h"
#include "stream.h"

namespace flagos::cuda {
namespace {

constexpr double kMiB = 1 << 20;

}  // namespace

flagos_status malloc_device(int32_t device, size_t bytes, void** out) {
  *out = nullptr;
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS || bytes == 0) return scope.status();
  const cudaError_t error = cudaMalloc(out, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    return fail(FLAGOS_ERROR_OUT_OF_MEMORY,
                "flagos:%d is out of memory. Asked for %zu bytes (%.2f MiB), %zu bytes (%.2f MiB) are free of %.2f MiB", device,
                bytes, double(bytes) / kMiB, free_bytes, double(free_bytes) / kMiB, double(total) / kMiB);
  }
  return check(error, "cudaMalloc", "allocate %zu bytes on flagos:%d", bytes, device);
}

flagos_status free_device(int32_t device, void* address) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS || !address) return scope.status();
  return check(cudaFree(address), "cudaFree", "free the block at %p on flagos:%d", address, device);
}

flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(cudaMemGetInfo(free_bytes, total_bytes), "cudaMemGetInfo", "read how much memory flagos:%d has", device);
}

flagos_status pointer_info(const void* address, flagos_pointer_info* out) {
  *out = {FLAGOS_MEMORY_UNKNOWN, -1, nullptr, 0};
  cudaPointerAttributes attributes{};
  const auto status = check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes", "look up %p", address);
  if (status != FLAGOS_SUCCESS) return status;
  void* block = const_cast<void*>(address);
  if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged)
    *out = {FLAGOS_MEMORY_DEVICE, attributes.device, block, 0};
  if (attributes.type == cudaMemoryTypeHost) *out = {FLAGOS_MEMORY_PINNED, -1, block, 0};
  return FLAGOS_SUCCESS;
}

flagos_status malloc_pinned(size_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return FLAGOS_SUCCESS;
  return check(cudaHostAlloc(out, bytes, cudaHostAllocDefault), "cudaHostAlloc",
               "allocate pinned host memory: asked for %zu bytes", bytes);
}

flagos_status free_pinned(void* address) {
  if (!address) return FLAGOS_SUCCESS;
  return check(cudaFreeHost(address), "cudaFreeHost", "free the pinned block at %p", address);
}

// Addresses are unique over host and devices, so the runtime sees itself where they lie; `kind` says what the caller means.
flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  cudaMemcpyKind theirs = cudaMemcpyDefault;
  if (kind == FLAGOS_COPY_HOST_TO_DEVICE) theirs = cudaMemcpyHostToDevice;
  if (kind == FLAGOS_COPY_DEVICE_TO_HOST) theirs = cudaMemcpyDeviceToHost;
  return check(cudaMemcpyAsync(to, from, bytes, theirs, native(stream)), "cudaMemcpyAsync", "copy %zu bytes", bytes);
}

flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream stream) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  return check(cudaMemsetAsync(to, byte, bytes, native(stream)), "cudaMemsetAsync", "fill %zu bytes", bytes);
}

}  // namespace flagos::cuda
