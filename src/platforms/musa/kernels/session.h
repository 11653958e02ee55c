// SPDX-License-Identifier: Apache-2.0
// session.h: a device made current, mudnn's handle for it, and how its answers become PyTorch's.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <flagos_kernels.h>
#include <mudnncxx/mudnn.h>
#include <musa_runtime_api.h>

namespace torch_fl::mudnn {

namespace dnn = ::musa::dnn;

// For the time of one operation. A device address means something to mudnn only while its device is current, so every
// call lies inside one of these. The handle belongs to the device and the thread, and is bound to the current stream.
class Session {
 public:
  explicit Session(c10::Device device);
  explicit Session(const at::Tensor& tensor) : Session(tensor.device()) {}

  dnn::Handle& handle() { return *handle_; }
  musaStream_t stream() const { return stream_; }
  c10::Device device() const { return device_; }

  // TF32 is on in a fresh handle and off in PyTorch unless `torch.backends.cuda.matmul` (or `torch.set_float32_matmul_precision`)
  // says otherwise. To be called before each product. Convolutions need the consent of `torch.backends.cudnn` too.
  void follow_tf32(bool convolution = false);

 private:
  c10::DeviceGuard guard_;
  c10::Device device_;
  musaStream_t stream_;
  dnn::Handle* handle_;
};

// Workspace from PyTorch's device allocator, in order with the current stream.
dnn::MemoryMaintainer workspace();

// NOT_SUPPORTED is thrown as Decline, every other failure as c10::Error. `call` names mudnn's function.
void check(dnn::Status status, const char* call);

}  // namespace torch_fl::mudnn
