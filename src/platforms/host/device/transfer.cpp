// SPDX-License-Identifier: Apache-2.0
// Copies and fills in stream order. A null stream is the default stream of the destination's device, or of the source's when the
// destination is host memory. Host memory, pinned or not, must stay until the stream has done the copy.
#include "contract.h"

#include "sentence.h"
#include "memory.h"
#include "streams.h"

namespace flagos::host {
namespace {

// One side of a transfer: where kernels find it, and its device (-1 for host memory).
struct Side {
  char* kernel;
  int32_t device;
};

flagos_status find_side(const char* function, const char* name, const void* address, size_t bytes, bool on_device,
                        Side* out) {
  const auto& space = address_space();
  auto* byte = static_cast<char*>(const_cast<void*>(address));
  const int32_t device = space.device_of(address);
  if (on_device && device < 0)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the %s %p is not device memory", function, name, address);
  if (!on_device && device >= 0)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the %s %p is memory of flagos:%d where host memory is expected",
                function, name, address, device);
  if (on_device && !space.holds(address, bytes))
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: %zu bytes at the %s %p go past the memory of flagos:%d", function,
                bytes, name, address, device);
  if (!address) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s: the %s is NULL", function, name);
  *out = {on_device ? byte + space.offset() : byte, device};
  return FLAGOS_SUCCESS;
}

}  // namespace

flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream handle) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  if (kind < FLAGOS_COPY_HOST_TO_DEVICE || kind > FLAGOS_COPY_DEVICE_TO_DEVICE)
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "memcpy_async: %d is no kind of copy", static_cast<int>(kind));
  Side target{}, source{};
  if (const auto status =
          find_side("memcpy_async", "destination", to, bytes, kind != FLAGOS_COPY_DEVICE_TO_HOST, &target);
      status != FLAGOS_SUCCESS)
    return status;
  if (const auto status = find_side("memcpy_async", "source", from, bytes, kind != FLAGOS_COPY_HOST_TO_DEVICE, &source);
      status != FLAGOS_SUCCESS)
    return status;
  Stream* stream = resolve(target.device >= 0 ? target.device : source.device, handle);
  stream->submit(Copy{target.kernel, source.kernel, bytes});
  return FLAGOS_SUCCESS;
}

flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream handle) {
  if (bytes == 0) return FLAGOS_SUCCESS;
  Side target{};
  if (const auto status = find_side("memset_async", "destination", to, bytes, true, &target); status != FLAGOS_SUCCESS)
    return status;
  resolve(target.device, handle)->submit(Fill{target.kernel, byte, bytes});
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::host
