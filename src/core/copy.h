// SPDX-License-Identifier: Apache-2.0
// copy.h: every copy with a flagos tensor on one side: between host, devices, dtypes and strides.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking);
at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target);
at::Scalar local_scalar_dense(const at::Tensor& self);  // waits for the tensor's current stream

}  // namespace torch_fl
