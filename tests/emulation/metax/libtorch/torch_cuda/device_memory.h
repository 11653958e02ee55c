// SPDX-License-Identifier: Apache-2.0
// device_memory.h: storages of the emulated device, and where the CPU finds what they hold.
#pragma once

#include <c10/core/Storage.h>

namespace emulated_fork {

// The host address of a byte of any device; null stays null.
void* host_address(const void* device);

// New memory on a device, taken on its current stream.
c10::Storage device_storage(size_t bytes, c10::DeviceIndex device);

// Another size, with what fits of the bytes that were there. Queued on the current stream.
void resize_storage(c10::StorageImpl& storage, size_t bytes);

void wait_for_current_stream(c10::DeviceIndex device);

}  // namespace emulated_fork
