// SPDX-License-Identifier: Apache-2.0
// All streams.
#pragma once

#include "stream.h"

namespace flagos::host {

// kDefault on the host platform. An emulated card's default streams are as asynchronous as any (kSide).
inline Stream::Kind default_stream_kind = Stream::Kind::kDefault;

void make_default_streams(int32_t devices);

// The stream behind a handle; the device's default stream when the handle is NULL.  Null, with the reason stored,
// when the device does not exist.
Stream* resolve(int32_t device, flagos_stream handle);

}  // namespace flagos::host
