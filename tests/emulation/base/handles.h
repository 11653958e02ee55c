// SPDX-License-Identifier: Apache-2.0
// The streams of an emulated SDK: what its handles stand for.
//
// A handle is checked before it is used, so a stale one is an error and not a crash. The null handle is the default stream of
// the current device. Streams that are not "non-blocking" order themselves against the default stream, as CUDA's legacy default
// stream does: work on either side waits for what was put on the other before.
#pragma once

#include <optional>

#include "streams.h"

namespace emulation {

// Starts the devices, once. Their default streams are asynchronous, as a card's are, whereas the host platform's run idle
// streams' work at once; FLAGOS_EMULATION_INLINE=1 has them do so, too (faster, and blind to forgotten synchronisation).
flagos_status start();

struct StreamInfo {
  int32_t device;
  flagos_stream inner;  // the base's stream; null: the device's default stream
  bool blocking;        // takes part in the ordering with the default stream
  int32_t priority;
  uint32_t number;  // within the process; 0 is a default stream
};

void* create_stream(int32_t device, int32_t priority, bool blocking);
// False when it is no stream, or the default one. Its work is finished all the same.
bool destroy_stream(const void* handle);

// What a handle stands for; nothing when it is no stream.
std::optional<StreamInfo> find_stream(const void* handle);
// The same with the null handle being the default stream of that device.
std::optional<StreamInfo> find_stream(int32_t device, const void* handle);

// The base's stream, after it has been ordered against the default stream: for putting work on it.
flagos::host::Stream& ordered(const StreamInfo& stream);

}  // namespace emulation
