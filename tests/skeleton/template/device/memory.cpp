// SPDX-License-Identifier: Apache-2.0
// Device memory, pinned host memory, copies and fills.
#include <initializer_list>

#include "runtime.h"

namespace flagos::skeleton {
namespace {

// The device whose stream a copy is ordered on: that of the destination, or of the source when the destination is host memory.
flagos_status device_of(const void* to, const void* from, int32_t* device) {
  flagos_pointer_info info;
  for (const void* address : {to, from}) {
    if (const auto status = pointer_info(address, &info); status != FLAGOS_SUCCESS) return status;
    if (info.kind == FLAGOS_MEMORY_DEVICE) {
      *device = info.device;
      return FLAGOS_SUCCESS;
    }
  }
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "neither %p nor %p is device memory", to, from);
}

}  // namespace

flagos_status malloc_device(int32_t device, size_t bytes, void** out) {
  *out = nullptr;
  return bytes == 0 ? FLAGOS_SUCCESS : check(skeletonMalloc(device, bytes, out), "allocate device memory");
}
flagos_status free_device(int32_t device, void* address) {
  return address ? check(skeletonFree(device, address), "free device memory") : FLAGOS_SUCCESS;
}
flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes) {
  return check(skeletonMemoryInfo(device, free_bytes, total_bytes), "read how much memory a device has");
}
flagos_status malloc_pinned(size_t bytes, void** out) {
  *out = nullptr;
  return bytes == 0 ? FLAGOS_SUCCESS : check(skeletonMallocHost(bytes, out), "allocate pinned host memory");
}
flagos_status free_pinned(void* address) {
  return address ? check(skeletonFreeHost(address), "free pinned host memory") : FLAGOS_SUCCESS;
}

flagos_status pointer_info(const void* address, flagos_pointer_info* out) {
  *out = {FLAGOS_MEMORY_UNKNOWN, -1, nullptr, 0};
  if (!address) return FLAGOS_SUCCESS;
  skeletonKind kind = skeletonUnknown;
  const auto status = check(skeletonPointer(address, &kind, &out->device, &out->base, &out->size), "look at an address");
  if (kind == skeletonDevice) out->kind = FLAGOS_MEMORY_DEVICE;
  if (kind == skeletonPinned) out->kind = FLAGOS_MEMORY_PINNED;
  if (kind != skeletonDevice) out->device = -1;
  return status;
}

flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  int32_t device = 0;
  if (const auto status = device_of(to, from, &device); status != FLAGOS_SUCCESS) return status;
  skeletonDirection way = skeletonOnDevices;
  if (kind == FLAGOS_COPY_HOST_TO_DEVICE) way = skeletonToDevice;
  if (kind == FLAGOS_COPY_DEVICE_TO_HOST) way = skeletonToHost;
  return check(skeletonCopy(device, to, from, bytes, way, native(stream)), "copy memory");
}

flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream stream) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  int32_t device = 0;
  if (const auto status = device_of(to, nullptr, &device); status != FLAGOS_SUCCESS) return status;
  return check(skeletonFill(device, to, byte, bytes, native(stream)), "fill memory");
}

}  // namespace flagos::skeleton
