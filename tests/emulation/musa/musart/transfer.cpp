// SPDX-License-Identifier: Apache-2.0
// Copies and fills. None returns later than its call has to: memory that is not page-locked is copied asynchronously, too, so
// who relies on the vendor's staging of such memory is found out.
#include <cstring>

#include "call.h"
#include "current_device.h"
#include "memory.h"

namespace musart {
namespace {

struct Side {
  char* byte = nullptr;  // as the CPU sees it
  flagos_emulation_v1_place place;
  int32_t device = -1;
};

bool expects_device(musaMemcpyKind kind, bool target) {
  return kind == musaMemcpyDeviceToDevice || kind == (target ? musaMemcpyHostToDevice : musaMemcpyDeviceToHost);
}

// One end of a copy. `expected` is what its kind says about it; peer copies name their devices, so any may be current.
musaError_t find_side(const char* function, const void* address, size_t bytes, bool any_kind, bool expected, bool peer,
                      Side* out) {
  if (!address) return refuse(musaErrorInvalidValue, "%s: an address is NULL", function);
  out->byte = static_cast<char*>(const_cast<void*>(address));
  out->place = place_of(address);
  const bool on_device = host::address_space().device_of(address) >= 0;
  if (!any_kind && on_device != expected)
    return refuse(expected ? musaErrorInvalidValue : musaErrorInvalidMemcpyDirection, "%s: %p is %sdevice memory", function,
                  address, on_device ? "" : "not ");
  if (!on_device) return musaSuccess;
  flagos_pointer_info block;
  if (!peer) {
    if (const auto error = check_device_memory(function, address, bytes)) return error;
  } else if (!host::find_device_block(address, &block) || !host::address_space().holds(address, bytes)) {
    return refuse(musaErrorInvalidValue, "%s: %zu bytes at %p are not device memory", function, bytes, address);
  }
  out->device = host::address_space().device_of(address);
  out->byte += host::address_space().offset();
  return musaSuccess;
}

musaError_t copy(const char* function, void* to, const void* from, size_t bytes, musaMemcpyKind kind, bool peer,
                 musaStream_t stream) {
  const auto target_stream = emulation::find_stream(stream);
  if (!target_stream) return refuse(musaErrorInvalidResourceHandle, "%s: not a stream", function);
  if (bytes == 0) return musaSuccess;
  if (kind < musaMemcpyHostToHost || kind > musaMemcpyDefault)
    return refuse(musaErrorInvalidMemcpyDirection, "%s: %d is no kind of copy", function, static_cast<int>(kind));
  Side target, source;
  const bool any = kind == musaMemcpyDefault;
  if (const auto error = find_side(function, to, bytes, any, expects_device(kind, true), peer, &target)) return error;
  if (const auto error = find_side(function, from, bytes, any, expects_device(kind, false), peer, &source)) return error;
  if (!emulation::observed()) {
    emulation::ordered(*target_stream).submit(host::Copy{target.byte, source.byte, bytes});
    return musaSuccess;
  }
  emulation::Activity what{};
  what.kind = FLAGOS_EMULATION_COPY;
  what.name = function;
  what.bytes = bytes;
  what.from = source.place;
  what.to = target.place;
  what.from_device = source.device;
  what.to_device = target.device;
  emulation::submit(*target_stream, what, [to = target.byte, from = source.byte, bytes]() -> flagos_host_result {
    std::memmove(to, from, bytes);
    return {FLAGOS_SUCCESS, nullptr, nullptr};
  });
  return musaSuccess;
}

musaError_t fill(const char* function, void* to, int byte, size_t bytes, musaStream_t stream) {
  const auto target = emulation::find_stream(stream);
  if (!target) return refuse(musaErrorInvalidResourceHandle, "%s: not a stream", function);
  if (bytes == 0) return musaSuccess;
  if (const auto error = check_device_memory(function, to, bytes)) return error;
  char* const address = static_cast<char*>(to) + host::address_space().offset();
  if (!emulation::observed()) {
    emulation::ordered(*target).submit(host::Fill{address, byte, bytes});
    return musaSuccess;
  }
  emulation::Activity what{};
  what.kind = FLAGOS_EMULATION_FILL;
  what.name = function;
  what.bytes = bytes;
  what.value = byte;
  emulation::submit(*target, what, [address, byte, bytes]() -> flagos_host_result {
    std::memset(address, byte, bytes);
    return {FLAGOS_SUCCESS, nullptr, nullptr};
  });
  return musaSuccess;
}

// Waits for the default stream of the current device.
musaError_t wait(musaError_t error) {
  if (error != musaSuccess) return error;
  return translate(host::resolve(host::current_device, nullptr)->synchronize());
}

}  // namespace
}  // namespace musart

using namespace musart;

extern "C" {

musaError_t musaMemcpy(void* to, const void* from, size_t bytes, musaMemcpyKind kind) {
  return call(__func__, [&] { return wait(copy("musaMemcpy", to, from, bytes, kind, false, nullptr)); });
}

musaError_t musaMemcpyAsync(void* to, const void* from, size_t bytes, musaMemcpyKind kind, musaStream_t stream) {
  return call(__func__, [&] { return copy("musaMemcpyAsync", to, from, bytes, kind, false, stream); });
}

musaError_t musaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, musaStream_t stream) {
  return call(__func__, [&]() -> musaError_t {
    for (const auto& [address, device] : {std::pair<const void*, int>(to, to_device), {from, from_device}})
      if (host::address_space().device_of(address) != device && bytes > 0)
        return refuse(musaErrorInvalidValue, "musaMemcpyPeerAsync: %p is not memory of device %d", address, device);
    return copy("musaMemcpyPeerAsync", to, from, bytes, musaMemcpyDeviceToDevice, true, stream);
  });
}

musaError_t musaMemset(void* to, int byte, size_t bytes) {
  return call(__func__, [&] { return wait(fill("musaMemset", to, byte, bytes, nullptr)); });
}

musaError_t musaMemsetAsync(void* to, int byte, size_t bytes, musaStream_t stream) {
  return call(__func__, [&] { return fill("musaMemsetAsync", to, byte, bytes, stream); });
}
}
