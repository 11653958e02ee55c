// SPDX-License-Identifier: Apache-2.0
// claims.h: which operators a CPU kernel serves whole on device memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string_view>

#include "macros.h"

namespace torch_fl {

TORCH_FL_API bool gives_view(const c10::FunctionSchema& schema);  // a result shares an argument's memory

// Operators between devices, on storages or on the bare description of a tensor: PyTorch composes them, whatever kernels there
// are. `name` is without namespace and overload ("resize_as_").
TORCH_FL_API bool works_between_devices(std::string_view name);

// True for operators with a CPU kernel, and for those that PyTorch composes (CompositeExplicitAutograd) of several: taken
// whole they cost one dispatch and give the CPU's bits. Views, factories, operators between devices and operators that
// PyTorch differentiates through (CompositeImplicitAutograd) stay with PyTorch's composites.
bool claimed(const c10::OperatorHandle& op);

}  // namespace torch_fl
