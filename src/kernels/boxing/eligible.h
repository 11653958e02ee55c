// SPDX-License-Identifier: Apache-2.0
// eligible.h: which operators are boxed.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string_view>

namespace torch_fl::boxing {

// The target has a kernel of its own for it, or PyTorch composes it below autograd: that is done better on the target's own
// tensors, since some compositions look at their device.
bool is_boxed(const c10::OperatorHandle& op);

// Lists, lengths and factors that may lie on the CPU beside a card's tensors.
constexpr bool takes_host_tensors(std::string_view name) {
  constexpr std::string_view known[] = {"aten::_ctc_loss",         "aten::_ctc_loss_backward", "aten::_foreach_copy_",
                                        "aten::_foreach_copy",     "aten::_foreach_addcdiv",   "aten::_foreach_addcdiv_",
                                        "aten::_foreach_addcmul", "aten::_foreach_addcmul_"};
  for (const std::string_view one : known)
    if (name == one) return true;
  return false;
}

// Kernels that need no tensor of the target (Direct in typed.h): the lists of optimizers. The excepted ones allocate results on
// the target without asking PyTorch's dispatcher.
constexpr bool takes_lists_directly(std::string_view name) {
  for (const std::string_view one : {"aten::_foreach_norm", "aten::_foreach_max", "aten::_foreach_powsum"})
    if (name == one) return false;
  return name.starts_with("aten::_foreach_") || name.starts_with("aten::_fused_ad") || name.starts_with("aten::_fused_sgd");
}

}  // namespace torch_fl::boxing
