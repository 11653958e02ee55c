// SPDX-License-Identifier: Apache-2.0
// Copies and fills in stream order. A null stream is the default stream of the destination's device, or of the source's when
// the destination is host memory. Host memory, pinned or not, must stay until the stream has done the copy.
#include <array>
#include <atomic>

#include "error.h"
#include "on_device.h"
#include "stream.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {
namespace {

constexpr int32_t kHost = -1;

// The device of one side of a transfer, kHost where host memory is expected.
flagos_status find_side(const char* function, const char* name, const void* address, size_t bytes, bool on_device,
                        int32_t* device) {
  *device = kHost;
  if (!address) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the %s is NULL", function, name);
  flagos_pointer_info info;
  if (const auto status = pointer_info(address, &info); status != FLAGOS_SUCCESS) return status;
  const bool is_device = info.kind == FLAGOS_MEMORY_DEVICE;
  if (on_device && !is_device)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the %s %p is not device memory", function, name, address);
  if (!on_device && is_device)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the %s %p is memory of flagos:%d where host memory is expected", function,
                name, address, info.device);
  if (!on_device) return FLAGOS_SUCCESS;
  const size_t offset = static_cast<const char*>(address) - static_cast<const char*>(info.base);
  if (info.size > 0 && bytes > info.size - offset)  // a size of 0 is unknown
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: %zu bytes at the %s %p go past the block of %zu bytes on flagos:%d",
                function, bytes, name, address, info.size, info.device);
  *device = info.device;
  return FLAGOS_SUCCESS;
}

// Lets the two devices copy directly instead of through host memory, where they can. Only a wish: a copy works either way.
void enable_peer_access(int32_t device, int32_t peer) {
  constexpr int32_t kMost = 64;
  static std::array<std::atomic<bool>, kMost * kMost> done{};
  if (device >= kMost || peer >= kMost || done[device * kMost + peer].exchange(true)) return;
  const OnDevice scope(device);
  int yes = 0;
  if (runtime::can_access_peer(&yes, device, peer).error == runtime::kSuccess && yes) runtime::enable_peer_access(peer, 0);
  runtime::forget_last_error();  // it may have been enabled by another library
}

runtime::CopyKind kind_of(flagos_copy_kind kind) {
  switch (kind) {
    case FLAGOS_COPY_HOST_TO_DEVICE: return runtime::kHostToDevice;
    case FLAGOS_COPY_DEVICE_TO_HOST: return runtime::kDeviceToHost;
    default: return runtime::kDeviceToDevice;
  }
}

}  // namespace

flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  if (kind < FLAGOS_COPY_HOST_TO_DEVICE || kind > FLAGOS_COPY_DEVICE_TO_DEVICE)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "memcpy_async: %d is no kind of copy", static_cast<int>(kind));
  int32_t target = kHost, source = kHost;
  if (const auto status = find_side("memcpy_async", "destination", to, bytes, kind != FLAGOS_COPY_DEVICE_TO_HOST, &target);
      status != FLAGOS_SUCCESS)
    return status;
  if (const auto status = find_side("memcpy_async", "source", from, bytes, kind != FLAGOS_COPY_HOST_TO_DEVICE, &source);
      status != FLAGOS_SUCCESS)
    return status;
  if (kind == FLAGOS_COPY_DEVICE_TO_DEVICE && target != source) {
    enable_peer_access(target, source);
    // The current device stays: a null stream is its default stream, and either side's may be meant.
    return check(runtime::copy_between_peers(to, target, from, source, bytes, native(stream)),
                 "copy %zu bytes from flagos:%d to flagos:%d", bytes, source, target);
  }
  const OnDevice scope(target == kHost ? source : target);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(runtime::copy(to, from, bytes, kind_of(kind), native(stream)), "copy %zu bytes", bytes);
}

flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream stream) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  int32_t device = kHost;
  if (const auto status = find_side("memset_async", "destination", to, bytes, true, &device); status != FLAGOS_SUCCESS)
    return status;
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(runtime::fill(to, byte, bytes, native(stream)), "fill %zu bytes on flagos:%d", bytes, device);
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
