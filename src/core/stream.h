// SPDX-License-Identifier: Apache-2.0
// stream.h: c10 streams over the platform's. Id 0 is a device's default stream; the others come from a pool that is
// never shrunk, so that a stream id stays good for the life of the process. Where PyTorch drives the device itself, streams are
// those of PyTorch under the same ids.
#pragma once

#include <c10/core/Stream.h>

#include <functional>
#include <utility>

#include "device.h"
#include "platform.h"

namespace torch_fl {

c10::Stream default_stream(c10::DeviceIndex index);
c10::Stream current_stream(c10::DeviceIndex index);          // of this thread
c10::Stream exchange_stream(c10::Stream stream);             // returns the former one of its device
c10::Stream pool_stream(c10::DeviceIndex index, int priority);  // round-robin, as torch.cuda's
TORCH_FL_API std::pair<int, int> stream_priority_range();    // least, greatest (lower number = more urgent)
flagos_stream native(c10::Stream stream);  // null, the default stream, means the one of the device that is current

// Queues a copy on the stream; `doing` completes "flagos: could not ...".
void queue_copy(void* to, const void* from, size_t bytes, flagos_copy_kind kind, c10::Stream stream, const char* doing);
TORCH_FL_API int stream_priority(c10::StreamId id, c10::DeviceIndex index);
TORCH_FL_API void* stream_handle(c10::StreamId id, c10::DeviceIndex index);

bool stream_idle(c10::Stream stream);  // throws what earlier work on it threw
void synchronize(c10::Stream stream);

// Runs `work` on the stream in order. An exception in it is kept and thrown by the next synchronisation.
// The thread-local state of PyTorch (grad mode, default dtype, ...) travels with it.
TORCH_FL_API void launch(c10::Stream stream, std::function<void()> work);

// Makes `later` wait for what is queued on `earlier` now.
void order_after(c10::Stream later, c10::Stream earlier);

}  // namespace torch_fl
