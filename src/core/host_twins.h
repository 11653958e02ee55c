// SPDX-License-Identifier: Apache-2.0
// host_twins.h: device tensors as a CPU kernel may see them: on the same bytes where the CPU reaches them
// (FLAGOS_CAP_HOST_ALIAS), else on copies.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "allocator.h"

namespace torch_fl {

// CPU kernels work on the device's own bytes. Else they wait for the stream, and work on copies.
bool kernels_in_place();

// The CPU twins of the device tensors of one operator call. Tensors that share a storage share it here too, so that a
// kernel sees overlapping arguments as overlapping.
class HostTwins {
 public:
  struct Pair {
    at::Tensor device;
    at::Tensor host;
    bool written = false;  // the operator may write to it
  };

  // The twin of a device tensor; the same one when it is asked for again.
  const at::Tensor& of(const at::Tensor& device, bool written = false);

  // The twin of a tensor of which every byte will be written: nothing is copied from the device.
  const at::Tensor& of_overwritten(const at::Tensor& device);

  // The device tensor behind a result: the argument that it is, a view of the argument whose memory it shows, or a new
  // tensor that takes over its memory (lent by DeviceResults, else copied to `stream`'s device).
  at::Tensor result(const at::Tensor& host, c10::Stream stream);

  // Carries what was written to copies, new sizes and new memory of written arguments (resize_, out=) over to the device.
  void write_back(c10::Stream stream);

 private:
  struct StoragePair {
    c10::StorageImpl* device;
    c10::Storage host;
    void* address;  // where `host` pointed when it was made
    size_t begin = 0, end = 0;  // of a copy: the bytes that it holds
    bool replaced = false;      // the kernel gave the storage other memory, which the device has taken over
  };
  StoragePair& storage_of(const c10::Storage& device);
  const at::Tensor& twin(const at::Tensor& device, bool written, bool fetch);

  c10::SmallVector<Pair, 6> pairs_;
  c10::SmallVector<StoragePair, 6> storages_;
  c10::SmallVector<std::pair<c10::StorageImpl*, c10::Storage>, 2> adopted_;  // CPU storage of a result, device storage
};

// A CPU tensor of the same description and without memory, for questions that depend on the description alone.
at::Tensor described_on_cpu(const at::Tensor& device);

}  // namespace torch_fl
