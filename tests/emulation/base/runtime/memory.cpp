// SPDX-License-Identifier: Apache-2.0
// Memory: of the device, page-locked, registered.
#include "memory.h"

#include <map>
#include <mutex>

#include "call.h"
#include "contract.h"
#include "current_device.h"

namespace runtime {
namespace {

std::mutex registered_mutex;
std::map<const char*, size_t>& registered() {  // RT(HostRegister): start -> bytes; guarded by registered_mutex
  static auto* ranges = new std::map<const char*, size_t>();
  return *ranges;
}

bool is_registered(const void* address) {
  const auto* byte = static_cast<const char*>(address);
  const std::lock_guard lock(registered_mutex);
  const auto next = registered().upper_bound(byte);
  return next != registered().begin() && static_cast<size_t>(byte - std::prev(next)->first) < std::prev(next)->second;
}

bool is_pinned(const void* address) {
  flagos_pointer_info info;
  host::pointer_info(address, &info);
  return info.kind == FLAGOS_MEMORY_PINNED || is_registered(address);
}

}  // namespace

Error allocate_pinned(void** address, size_t bytes) {
  if (!address) return RT(ErrorInvalidValue);
  return translate(host::malloc_pinned(bytes, address));
}

flagos_emulation_v1_place place_of(const void* address) {
  flagos_pointer_info block;
  if (host::find_device_block(address, &block)) return FLAGOS_EMULATION_DEVICE;
  return is_pinned(address) ? FLAGOS_EMULATION_PINNED : FLAGOS_EMULATION_PAGEABLE;
}

}  // namespace runtime

using namespace runtime;

extern "C" {

Error RT(Malloc)(void** address, size_t bytes) {
  return call(__func__, [&] {
    if (!address) return RT(ErrorInvalidValue);
    return translate(host::malloc_device(host::current_device, bytes, address));
  });
}

// Does not wait for work that uses the block, which the vendor's may do: who relies on that is found out.
Error RT(Free)(void* address) {
  return call(__func__, [&] {
    if (!address) return RT(Success);
    if (const auto error = check_device_memory(RT_NAME(Free), address, 0)) return error;
    flagos_pointer_info block;
    if (!host::find_device_block(address, &block)) return RT(ErrorInvalidValue);
    return translate(host::free_device(block.device, address));
  });
}

// Pools are not needed: a block is had at once, and goes back when the stream gets there.
Error RT(MallocAsync)(void** address, size_t bytes, RT(Stream_t) stream) {
  return call(__func__, [&]() -> Error {
    if (!address) return RT(ErrorInvalidValue);
    const auto target = emulation::find_stream(stream);
    if (!target) return refuse(RT(ErrorInvalidResourceHandle), RT_NAME(MallocAsync) ": not a stream");
    return translate(host::malloc_device(target->device, bytes, address));
  });
}

Error RT(FreeAsync)(void* address, RT(Stream_t) stream) {
  return call(__func__, [&]() -> Error {
    if (!address) return RT(Success);
    if (const auto error = check_device_memory(RT_NAME(FreeAsync), address, 0)) return error;
    const auto target = emulation::find_stream(stream);
    if (!target) return refuse(RT(ErrorInvalidResourceHandle), RT_NAME(FreeAsync) ": not a stream");
    flagos_pointer_info block;
    if (!host::find_device_block(address, &block) || block.base != address)
      return refuse(RT(ErrorInvalidValue), RT_NAME(FreeAsync) ": %p is not the start of a block", address);
    struct Block {
      int32_t device;
      void* address;
    };
    emulation::ordered(*target).submit(host::Call{[](void* argument) -> flagos_host_result {
                                                    const std::unique_ptr<Block> block(static_cast<Block*>(argument));
                                                    host::free_device(block->device, block->address);
                                                    return {FLAGOS_SUCCESS, nullptr, nullptr};
                                                  },
                                                  new Block{block.device, address}});
    return RT(Success);
  });
}

Error RT(MallocHost)(void** address, size_t bytes) {
  return call(__func__, [&] { return allocate_pinned(address, bytes); });
}

Error RT(FreeHost)(void* address) {
  return call(__func__, [&] { return translate(host::free_pinned(address)); });
}

Error RT(HostRegister)(void* address, size_t bytes, unsigned int flags) {
  return call(__func__, [&]() -> Error {
    if (!address || bytes == 0 || flags > (RT(HostRegisterPortable) | RT(HostRegisterMapped)))
      return refuse(RT(ErrorInvalidValue), RT_NAME(HostRegister) ": %zu bytes at %p, flags %#x", bytes, address, flags);
    auto* start = static_cast<char*>(address);
    if (is_pinned(start) || is_pinned(start + bytes - 1))
      return refuse(RT(ErrorHostMemoryAlreadyRegistered), RT_NAME(HostRegister) ": a part of %p is page-locked already",
                    address);
    const std::lock_guard lock(registered_mutex);
    registered().emplace(start, bytes);
    return RT(Success);
  });
}

Error RT(HostUnregister)(void* address) {
  return call(__func__, [&]() -> Error {
    const std::lock_guard lock(registered_mutex);
    if (registered().erase(static_cast<char*>(address)) == 0)
      return refuse(RT(ErrorHostMemoryNotRegistered), RT_NAME(HostUnregister) ": %p was not registered", address);
    return RT(Success);
  });
}

// Addresses are unified: device code uses the host's.
Error RT(HostGetDevicePointer)(void** device_address, void* host_address, unsigned int flags) {
  return call(__func__, [&]() -> Error {
    if (!device_address || flags != 0 || !is_pinned(host_address))
      return refuse(RT(ErrorInvalidValue), RT_NAME(HostGetDevicePointer) ": %p is not page-locked", host_address);
    *device_address = host_address;
    return RT(Success);
  });
}

// Memory that both sides touch cannot be told from a forgotten copy here.
Error RT(MallocManaged)(void**, size_t, unsigned int) {
  return call(__func__, [] { return refuse(RT(ErrorNotSupported), "the emulated card has no managed memory"); });
}

Error RT(MemGetInfo)(size_t* free_bytes, size_t* total_bytes) {
  return call(__func__, [&] {
    if (!free_bytes || !total_bytes) return RT(ErrorInvalidValue);
    return translate(host::memory_info(host::current_device, free_bytes, total_bytes));
  });
}

Error RT(PointerGetAttributes)(vendor::PointerAttributes* out, const void* address) {
  return call(__func__, [&]() -> Error {
    if (!out) return RT(ErrorInvalidValue);
    auto* plain = const_cast<void*>(address);
    switch (place_of(address)) {
      case FLAGOS_EMULATION_DEVICE: {
        if (const auto error = check_device_memory(RT_NAME(PointerGetAttributes), address, 1)) return error;
        flagos_pointer_info block;
        host::find_device_block(address, &block);
        *out = {RT(MemoryTypeDevice), block.device, plain, nullptr};
        break;
      }
      case FLAGOS_EMULATION_PINNED: *out = {RT(MemoryTypeHost), host::current_device, plain, plain}; break;
      case FLAGOS_EMULATION_PAGEABLE:
        if (odd("unknown_pointer")) return refuse(RT(ErrorInvalidValue), "%p is not known to the runtime", address);
        *out = {RT(MemoryTypeUnregistered), -2, nullptr, plain};
        break;
    }
    return RT(Success);
  });
}

// Device memory here is private to its process.
Error RT(IpcGetMemHandle)(RT(IpcMemHandle_t) *, void*) {
  return call(__func__, [] { return refuse(RT(ErrorNotSupported), "emulated memory cannot be shared between processes"); });
}
Error RT(IpcOpenMemHandle)(void**, RT(IpcMemHandle_t), unsigned int) {
  return call(__func__, [] { return refuse(RT(ErrorNotSupported), "emulated memory cannot be shared between processes"); });
}
Error RT(IpcCloseMemHandle)(void*) {
  return call(__func__, [] { return refuse(RT(ErrorNotSupported), "emulated memory cannot be shared between processes"); });
}
}
