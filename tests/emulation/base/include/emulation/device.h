// SPDX-License-Identifier: Apache-2.0
// device.h: the emulated devices, for libraries that put work on them (mudnn, murand, ...).
//
// Addresses and streams are those that the SDK's user holds. Device memory is out of the CPU's reach at these addresses; work
// asks for the CPU address of each operand when it is launched, and uses it when it runs.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "emulation/exports.h"

namespace emulation {

using Block = flagos_emulation_v1_block;

inline int current_device() { return flagos_emulation_v1_current_device(); }
inline int device_count() { return flagos_emulation_v1_device_count(); }

// Where the CPU finds device memory, or pinned host memory (which is itself); null for any other address.
template <typename T>
T* cpu_address(T* address) {
  return static_cast<T*>(flagos_emulation_v1_cpu_address(address));
}

// The live allocation of device memory that holds the address.
inline std::optional<Block> find_block(const void* address) {
  Block block;
  if (!flagos_emulation_v1_find_block(address, &block)) return std::nullopt;
  return block;
}

// The device of a stream of the SDK (a null stream: the current device); -1 when it is no stream.
inline int stream_device(const void* stream) { return flagos_emulation_v1_stream_device(stream); }

// Runs `work` in stream order, as a kernel of that name; returns before it has run, or after. An exception out of `work` breaks
// the device, as a fault in a kernel would, and is reported by the next synchronisation. False when it is no stream
// or its device is broken.
inline bool launch(void* stream, const char* name, std::function<void()> work) {
  auto* owned = new std::function<void()>(std::move(work));
  const auto run = [](void* argument) -> char* {
    const std::unique_ptr<std::function<void()>> function(static_cast<std::function<void()>*>(argument));
    try {
      (*function)();
      return nullptr;
    } catch (const std::exception& error) {
      return strdup(error.what());
    }
  };
  if (flagos_emulation_v1_launch(stream, name, run, owned) == 0) return true;
  delete owned;
  return false;
}

}  // namespace emulation
