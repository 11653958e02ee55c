// SPDX-License-Identifier: Apache-2.0
// twins.h: CUDA tensors as a CPU kernel may see them, on the same bytes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace emulated_fork {

// The CPU twins of the CUDA tensors of one operator call. Tensors that share a storage share it here too, so that a kernel sees
// overlapping arguments as overlapping.
class Twins {
 public:
  // The twin of a CUDA tensor, the same one when it is asked for again; any other tensor is its own.
  at::Tensor of(const at::Tensor& tensor);

  // The CUDA tensor behind a result: the argument that it is, a view of the argument whose memory it shows, or a new one.
  at::Tensor result(const at::Tensor& host, c10::DeviceIndex device);

  // Carries new sizes and new memory of arguments (resize_, out=) over to the device.
  void write_back();

 private:
  struct Pair {
    at::Tensor device, host;
  };
  struct Storages {
    c10::Storage device, host;
    const void* address;  // where `host` pointed when it was made
  };
  c10::Storage host_storage(const c10::Storage& device);
  c10::Storage device_storage_of(const c10::Storage& host, c10::DeviceIndex device);

  c10::SmallVector<Pair, 6> pairs_;
  c10::SmallVector<Storages, 6> storages_;
};

}  // namespace emulated_fork
