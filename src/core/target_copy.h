// SPDX-License-Identifier: Apache-2.0
// target_copy.h: copies of a device that PyTorch drives itself are those of PyTorch: between data types and layouts, with the
// CPU (pinned memory is not waited for) and with another device.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

at::Tensor target_copy(const at::Tensor& source, const at::Tensor& target, bool non_blocking);
at::Scalar target_local_scalar(const at::Tensor& self);

}  // namespace torch_fl
