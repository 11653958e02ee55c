// SPDX-License-Identifier: Apache-2.0
// Two ranges of addresses a constant apart: what programs hold, and what kernels use.
//
// A program gets addresses of the device range, which is never accessible: host code that follows one faults, as it
// would with a card.  Kernels add `offset` and find the bytes.  Each device owns one equal part of both ranges, so
// which device an address belongs to is arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "settings.h"

namespace flagos::host {

struct AddressSpace {
  char* device_base = nullptr;
  char* kernel_base = nullptr;
  size_t per_device = 0;  // bytes of either range that one device owns
  int32_t devices = 0;
  bool guard = false;  // the kernel range starts inaccessible; blocks are opened one by one

  // As much as the system gives, 256 GiB a device at most and the configured memory at least.
  flagos_status reserve(const Settings& settings);

  ptrdiff_t offset() const noexcept { return kernel_base - device_base; }
  size_t size() const noexcept { return per_device * devices; }

  // The device that owns an address of the device range; -1 for any other address.
  int32_t device_of(const void* address) const noexcept { return owner(device_base, address); }
  // The same for the kernel range.
  int32_t device_of_kernel(const void* address) const noexcept { return owner(kernel_base, address); }
  // Are all these bytes in the part of one device?
  bool holds(const void* address, size_t bytes) const noexcept {
    const auto distance = static_cast<size_t>(static_cast<const char*>(address) - device_base);
    return distance < size() && bytes <= per_device - distance % per_device;
  }

 private:
  int32_t owner(const char* base, const void* address) const noexcept {
    const auto distance = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base);
    return distance < size() ? static_cast<int32_t>(distance / per_device) : -1;
  }
};

size_t page_size() noexcept;
inline size_t round_up(size_t bytes, size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

}  // namespace flagos::host
