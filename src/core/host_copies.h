// SPDX-License-Identifier: Apache-2.0
// host_copies.h: bytes between a device and a CPU twin, for devices whose memory CPU kernels cannot reach. All of them wait for
// the stream: what was queued before is seen, and the host's side is free afterwards.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

void upload(void* device, const void* host, size_t bytes, c10::Stream stream);
void download(void* host, const void* device, size_t bytes, c10::Stream stream);

// Brings what a device tensor covers to the copy of its storage at `host`, of which [begin, end) is there already.
void download_missing(const at::Tensor& device, void* host, size_t& begin, size_t& end);

// Writes the elements of `host`, and no byte between them, to the same elements of `device`.
void upload_elements(const at::Tensor& host, const at::Tensor& device, c10::Stream stream);

}  // namespace torch_fl
