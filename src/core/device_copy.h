// SPDX-License-Identifier: Apache-2.0
// device_copy.h: strided and converting copies inside a device by a kernel library, which offers them as `_copy_from`.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl {

void find_device_copy();  // once, when the kernel libraries are loaded
bool has_device_copy();

// Copies between tensors of one device and one shape on its current stream; false where no kernel serves the call.
bool device_copy(const at::Tensor& source, const at::Tensor& target);

}  // namespace torch_fl
