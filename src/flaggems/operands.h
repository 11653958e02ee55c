// SPDX-License-Identifier: Apache-2.0
// operands.h: the tensors of a call, brought to where a Triton kernel can reach them.
#pragma once

#include <ATen/core/stack.h>

#include "operator_plan.h"

namespace torch_fl::flaggems {

// Finds the device of the call, which is that of the first tensor on one, else of a device argument, else the current one;
// and moves what PyTorch lets lie on the CPU to it: scalars, indices. A wrapped Python number becomes a scalar tensor of the data
// type that promotion would give it. Declines transfers, tensors of several devices, which the next step has a sentence for, calls
// with a tensor that has no elements or lazy bits, and draws from a generator of the caller's.
c10::Device bring_together(const OperatorPlan& plan, torch::jit::Stack* stack);

}  // namespace torch_fl::flaggems
