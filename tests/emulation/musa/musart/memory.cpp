// SPDX-License-Identifier: Apache-2.0
// Memory: of the device, page-locked, registered.
#include "memory.h"

#include <map>
#include <mutex>

#include "call.h"
#include "current_device.h"
#include "contract.h"

namespace musart {
namespace {

std::mutex registered_mutex;
std::map<const char*, size_t>& registered() {  // musaHostRegister: start -> bytes; guarded by registered_mutex
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

musaError_t allocate_pinned(void** address, size_t bytes) {
  if (!address) return musaErrorInvalidValue;
  return translate(host::malloc_pinned(bytes, address));
}

}  // namespace

flagos_emulation_v1_place place_of(const void* address) {
  flagos_pointer_info block;
  if (host::find_device_block(address, &block)) return FLAGOS_EMULATION_DEVICE;
  return is_pinned(address) ? FLAGOS_EMULATION_PINNED : FLAGOS_EMULATION_PAGEABLE;
}

}  // namespace musart

using namespace musart;

extern "C" {

musaError_t musaMalloc(void** address, size_t bytes) {
  return call(__func__, [&] {
    if (!address) return musaErrorInvalidValue;
    return translate(host::malloc_device(host::current_device, bytes, address));
  });
}

// Does not wait for work that uses the block, which the vendor's may do: who relies on that is found out.
musaError_t musaFree(void* address) {
  return call(__func__, [&] {
    if (!address) return musaSuccess;
    if (const auto error = check_device_memory("musaFree", address, 0)) return error;
    flagos_pointer_info block;
    if (!host::find_device_block(address, &block)) return musaErrorInvalidValue;
    return translate(host::free_device(block.device, address));
  });
}

// Pools are not needed: a block is had at once, and goes back when the stream gets there.
musaError_t musaMallocAsync(void** address, size_t bytes, musaStream_t stream) {
  return call(__func__, [&]() -> musaError_t {
    if (!address) return musaErrorInvalidValue;
    const auto target = emulation::find_stream(stream);
    if (!target) return refuse(musaErrorInvalidResourceHandle, "musaMallocAsync: not a stream");
    return translate(host::malloc_device(target->device, bytes, address));
  });
}

musaError_t musaFreeAsync(void* address, musaStream_t stream) {
  return call(__func__, [&]() -> musaError_t {
    if (!address) return musaSuccess;
    if (const auto error = check_device_memory("musaFreeAsync", address, 0)) return error;
    const auto target = emulation::find_stream(stream);
    if (!target) return refuse(musaErrorInvalidResourceHandle, "musaFreeAsync: not a stream");
    flagos_pointer_info block;
    if (!host::find_device_block(address, &block) || block.base != address)
      return refuse(musaErrorInvalidValue, "musaFreeAsync: %p is not the start of a block", address);
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
    return musaSuccess;
  });
}

musaError_t musaMallocHost(void** address, size_t bytes) {
  return call(__func__, [&] { return allocate_pinned(address, bytes); });
}

musaError_t musaHostAlloc(void** address, size_t bytes, unsigned int flags) {
  return call(__func__, [&]() -> musaError_t {
    if (flags > (musaHostAllocPortable | musaHostAllocMapped | musaHostAllocWriteCombined))
      return refuse(musaErrorInvalidValue, "musaHostAlloc: unknown flags %#x", flags);
    return allocate_pinned(address, bytes);
  });
}

musaError_t musaFreeHost(void* address) {
  return call(__func__, [&] { return translate(host::free_pinned(address)); });
}

musaError_t musaHostRegister(void* address, size_t bytes, unsigned int flags) {
  return call(__func__, [&]() -> musaError_t {
    if (!address || bytes == 0 || flags > (musaHostRegisterPortable | musaHostRegisterMapped))
      return refuse(musaErrorInvalidValue, "musaHostRegister: %zu bytes at %p, flags %#x", bytes, address, flags);
    auto* start = static_cast<char*>(address);
    if (is_pinned(start) || is_pinned(start + bytes - 1))
      return refuse(musaErrorHostMemoryAlreadyRegistered, "musaHostRegister: a part of %p is page-locked already", address);
    const std::lock_guard lock(registered_mutex);
    registered().emplace(start, bytes);
    return musaSuccess;
  });
}

musaError_t musaHostUnregister(void* address) {
  return call(__func__, [&]() -> musaError_t {
    const std::lock_guard lock(registered_mutex);
    if (registered().erase(static_cast<char*>(address)) == 0)
      return refuse(musaErrorHostMemoryNotRegistered, "musaHostUnregister: %p was not registered", address);
    return musaSuccess;
  });
}

// Addresses are unified: device code uses the host's.
musaError_t musaHostGetDevicePointer(void** device_address, void* host_address, unsigned int flags) {
  return call(__func__, [&]() -> musaError_t {
    if (!device_address || flags != 0 || !is_pinned(host_address))
      return refuse(musaErrorInvalidValue, "musaHostGetDevicePointer: %p is not page-locked", host_address);
    *device_address = host_address;
    return musaSuccess;
  });
}

// Memory that both sides touch cannot be told from a forgotten copy here.
musaError_t musaMallocManaged(void**, size_t, unsigned int) {
  return call(__func__, [] { return refuse(musaErrorNotSupported, "the emulated MUSA device has no managed memory"); });
}

musaError_t musaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call(__func__, [&] {
    if (!free_bytes || !total_bytes) return musaErrorInvalidValue;
    return translate(host::memory_info(host::current_device, free_bytes, total_bytes));
  });
}

musaError_t musaPointerGetAttributes(musaPointerAttributes* out, const void* address) {
  return call(__func__, [&]() -> musaError_t {
    if (!out) return musaErrorInvalidValue;
    auto* plain = const_cast<void*>(address);
    switch (place_of(address)) {
      case FLAGOS_EMULATION_DEVICE: {
        if (const auto error = check_device_memory("musaPointerGetAttributes", address, 1)) return error;
        flagos_pointer_info block;
        host::find_device_block(address, &block);
        *out = {musaMemoryTypeDevice, block.device, plain, nullptr};
        break;
      }
      case FLAGOS_EMULATION_PINNED: *out = {musaMemoryTypeHost, host::current_device, plain, plain}; break;
      case FLAGOS_EMULATION_PAGEABLE: *out = {musaMemoryTypeUnregistered, -2, nullptr, plain}; break;
    }
    return musaSuccess;
  });
}

// Device memory here is private to its process.
musaError_t musaIpcGetMemHandle(musaIpcMemHandle_t*, void*) {
  return call(__func__,
              [] { return refuse(musaErrorNotSupported, "emulated MUSA memory cannot be shared between processes"); });
}
musaError_t musaIpcOpenMemHandle(void**, musaIpcMemHandle_t, unsigned int) {
  return call(__func__,
              [] { return refuse(musaErrorNotSupported, "emulated MUSA memory cannot be shared between processes"); });
}
musaError_t musaIpcCloseMemHandle(void*) {
  return call(__func__,
              [] { return refuse(musaErrorNotSupported, "emulated MUSA memory cannot be shared between processes"); });
}
}
