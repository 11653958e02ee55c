// SPDX-License-Identifier: Apache-2.0
// Copies and fills. None returns later than its call has to: memory that is not page-locked is copied asynchronously, too, so
// who relies on the vendor's staging of such memory is found out.
#include <cstring>

#include "call.h"
#include "current_device.h"
#include "memory.h"

namespace runtime {
namespace {

struct Side {
  char* byte = nullptr;  // as the CPU sees it
  flagos_emulation_v1_place place;
  int32_t device = -1;
};

bool expects_device(RT(MemcpyKind) kind, bool target) {
  return kind == RT(MemcpyDeviceToDevice) || kind == (target ? RT(MemcpyHostToDevice) : RT(MemcpyDeviceToHost));
}

// One end of a copy. `expected` is what its kind says about it; peer copies name their devices, so any may be current.
Error find_side(const char* function, const void* address, size_t bytes, bool any_kind, bool expected, bool peer, Side* out) {
  if (!address) return refuse(RT(ErrorInvalidValue), "%s: an address is NULL", function);
  out->byte = static_cast<char*>(const_cast<void*>(address));
  out->place = place_of(address);
  const bool on_device = host::address_space().device_of(address) >= 0;
  if (!any_kind && on_device != expected)
    return refuse(expected ? RT(ErrorInvalidValue) : RT(ErrorInvalidMemcpyDirection), "%s: %p is %sdevice memory", function,
                  address, on_device ? "" : "not ");
  if (!on_device) return RT(Success);
  if (const auto error = check_device_memory(function, address, bytes, peer)) return error;
  out->device = host::address_space().device_of(address);
  out->byte += host::address_space().offset();
  return RT(Success);
}

Error copy(const char* function, void* to, const void* from, size_t bytes, RT(MemcpyKind) kind, bool peer,
           RT(Stream_t) stream) {
  const auto target_stream = emulation::find_stream(stream);
  if (!target_stream) return refuse(RT(ErrorInvalidResourceHandle), "%s: not a stream", function);
  if (bytes == 0) return RT(Success);
  if (kind < RT(MemcpyHostToHost) || kind > RT(MemcpyDefault))
    return refuse(RT(ErrorInvalidMemcpyDirection), "%s: %d is no kind of copy", function, static_cast<int>(kind));
  Side target, source;
  const bool any = kind == RT(MemcpyDefault);
  if (const auto error = find_side(function, to, bytes, any, expects_device(kind, true), peer, &target)) return error;
  if (const auto error = find_side(function, from, bytes, any, expects_device(kind, false), peer, &source)) return error;
  if (!emulation::observed()) {
    emulation::ordered(*target_stream).submit(host::Copy{target.byte, source.byte, bytes});
    return RT(Success);
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
  return RT(Success);
}

Error fill(const char* function, void* to, int byte, size_t bytes, RT(Stream_t) stream) {
  const auto target = emulation::find_stream(stream);
  if (!target) return refuse(RT(ErrorInvalidResourceHandle), "%s: not a stream", function);
  if (bytes == 0) return RT(Success);
  if (const auto error = check_device_memory(function, to, bytes)) return error;
  char* const address = static_cast<char*>(to) + host::address_space().offset();
  if (!emulation::observed()) {
    emulation::ordered(*target).submit(host::Fill{address, byte, bytes});
    return RT(Success);
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
  return RT(Success);
}

// Waits for the default stream of the current device.
Error wait(Error error) {
  if (error != RT(Success)) return error;
  return translate(host::resolve(host::current_device, nullptr)->synchronize());
}

}  // namespace
}  // namespace runtime

using namespace runtime;

extern "C" {

Error RT(Memcpy)(void* to, const void* from, size_t bytes, RT(MemcpyKind) kind) {
  return call(__func__, [&] { return wait(copy(RT_NAME(Memcpy), to, from, bytes, kind, false, nullptr)); });
}

Error RT(MemcpyAsync)(void* to, const void* from, size_t bytes, RT(MemcpyKind) kind, RT(Stream_t) stream) {
  return call(__func__, [&] { return copy(RT_NAME(MemcpyAsync), to, from, bytes, kind, false, stream); });
}

Error RT(MemcpyPeerAsync)(void* to, int to_device, const void* from, int from_device, size_t bytes, RT(Stream_t) stream) {
  return call(__func__, [&]() -> Error {
    for (const auto& [address, device] : {std::pair<const void*, int>(to, to_device), {from, from_device}})
      if (host::address_space().device_of(address) != device && bytes > 0)
        return refuse(RT(ErrorInvalidValue), RT_NAME(MemcpyPeerAsync) ": %p is not memory of device %d", address, device);
    return copy(RT_NAME(MemcpyPeerAsync), to, from, bytes, RT(MemcpyDeviceToDevice), true, stream);
  });
}

Error RT(Memset)(void* to, int byte, size_t bytes) {
  return call(__func__, [&] { return wait(fill(RT_NAME(Memset), to, byte, bytes, nullptr)); });
}

Error RT(MemsetAsync)(void* to, int byte, size_t bytes, RT(Stream_t) stream) {
  return call(__func__, [&] { return fill(RT_NAME(MemsetAsync), to, byte, bytes, stream); });
}
}
