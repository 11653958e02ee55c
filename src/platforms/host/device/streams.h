// SPDX-License-Identifier: Apache-2.0
// All streams, and the stream half of the contract.
#pragma once

#include "stream.h"

namespace flagos::host {

// kDefault on the host platform. An emulated card's default streams are as asynchronous as any (kSide).
inline Stream::Kind default_stream_kind = Stream::Kind::kDefault;

void make_default_streams(int32_t devices);

// The stream behind a handle; the device's default stream when the handle is NULL.  Null, with the reason stored,
// when the device does not exist.
Stream* resolve(int32_t device, flagos_stream handle);

flagos_status synchronize_device(int32_t device);
flagos_status stream_priority_range(int32_t* least, int32_t* greatest);
flagos_status stream_create(int32_t device, int32_t priority, flagos_stream* out);
flagos_status stream_destroy(flagos_stream handle);
flagos_status stream_query(int32_t device, flagos_stream handle);
flagos_status stream_synchronize(int32_t device, flagos_stream handle);
flagos_status launch_host_function(int32_t device, flagos_stream handle, flagos_host_function function, void* argument);

}  // namespace flagos::host
