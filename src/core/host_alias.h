// SPDX-License-Identifier: Apache-2.0
// host_alias.h: device tensors as a CPU kernel may see them, without a copy (FLAGOS_CAP_HOST_ALIAS).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "allocator.h"

namespace torch_fl {

// The CPU twins of the device tensors of one operator call. Tensors that share a storage share it here too, so that a
// kernel sees overlapping arguments as overlapping.
class HostAliases {
 public:
  struct Pair {
    at::Tensor device;
    at::Tensor host;
    bool written = false;  // the operator may write to it
  };

  // The twin of a device tensor; the same one when it is asked for again.
  const at::Tensor& of(const at::Tensor& device, bool written = false);

  // The device tensor behind a result: the argument that it is, a view of the argument whose memory it shows, or a new
  // tensor that takes over its memory (lent by DeviceResults, else copied to `stream`'s device).
  at::Tensor result(const at::Tensor& host, c10::Stream stream);

  // Carries new sizes and new memory of written arguments (resize_, out=) over to the device tensors.
  void write_back(c10::Stream stream);

  const c10::SmallVectorImpl<Pair>& pairs() const { return pairs_; }

 private:
  struct StoragePair {
    c10::StorageImpl* device;
    c10::Storage host;
    void* address;  // where `host` pointed when it was made
  };
  const c10::Storage& storage_of(const c10::Storage& device);

  c10::SmallVector<Pair, 6> pairs_;
  c10::SmallVector<StoragePair, 6> storages_;
  c10::SmallVector<std::pair<c10::StorageImpl*, c10::Storage>, 2> adopted_;  // CPU storage of a result, device storage
};

}  // namespace torch_fl
