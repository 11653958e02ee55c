// SPDX-License-Identifier: Apache-2.0
// claims.h: which operators a CPU kernel serves whole on device memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace torch_fl {

// True for operators with a CPU kernel, and for those that PyTorch composes (CompositeExplicitAutograd) of several: taken
// whole they cost one dispatch and give the CPU's bits. Views, factories, operators between devices and operators that
// PyTorch differentiates through (CompositeImplicitAutograd) stay with PyTorch's composites.
bool claimed(const c10::OperatorHandle& op);

}  // namespace torch_fl
