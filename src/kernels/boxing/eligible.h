// SPDX-License-Identifier: Apache-2.0
// eligible.h: which operators are boxed.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <string_view>

namespace torch_fl::boxing {

// "add.Tensor"
std::string short_name(const c10::OperatorName& name);

// The target has a kernel of its own for it, or PyTorch composes it below autograd: that is done better on the target's own
// tensors, since some compositions look at their device.
bool is_boxed(const c10::OperatorHandle& op);

// Their lists and lengths may lie on the CPU beside a card's tensors.
constexpr bool takes_host_tensors(std::string_view name) {
  return name == "aten::_ctc_loss" || name == "aten::_ctc_loss_backward" || name == "aten::_foreach_copy_" ||
         name == "aten::_foreach_copy";
}

}  // namespace torch_fl::boxing
