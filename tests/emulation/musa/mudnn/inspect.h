// SPDX-License-Identifier: Apache-2.0
// The emulation's view into mudnn's public classes.
#pragma once

#include "mudnncxx/mudnn.h"

namespace musa::dnn::emulation {

struct Inspect {
  static int device(const Handle& handle) { return handle.device_; }
  static uint64_t thread(const Handle& handle) { return handle.thread_; }
  static musaStream_t stream(const Handle& handle) { return handle.stream_; }
  static bool allow_tf32(const Handle& handle) { return handle.allow_tf32_; }

  static Tensor::Type type(const Tensor& tensor) { return tensor.type_; }
  static Tensor::Format format(const Tensor& tensor) { return tensor.format_; }
  static const void* address(const Tensor& tensor) { return tensor.address_; }
  static const std::vector<int64_t>& sizes(const Tensor& tensor) { return tensor.sizes_; }
  static const std::vector<int64_t>& strides(const Tensor& tensor) { return tensor.strides_; }
};

uint64_t this_thread();  // a number that no other thread of the process has had

}  // namespace musa::dnn::emulation
