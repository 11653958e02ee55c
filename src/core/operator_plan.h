// SPDX-License-Identifier: Apache-2.0
// operator_plan.h: what a boxed kernel needs to know of an operator's schema, worked out once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>

#include <string>

#include "macros.h"

namespace torch_fl {

struct OperatorPlan {
  enum class Kind : uint8_t { other, tensor, tensor_list, optional_tensor_list, generator, device };
  struct Argument {
    uint16_t position;
    Kind kind;
    bool written;  // the operator may write to it
    bool host;     // may lie on the CPU beside device tensors
  };

  TORCH_FL_API explicit OperatorPlan(const c10::OperatorHandle& op);

  std::string name;         // "aten::add.Tensor"
  std::string short_name;   // "add.Tensor" for aten, else as `name`
  size_t arguments;         // how many the operator takes
  size_t returns;
  c10::SmallVector<Argument, 6> interesting;  // the arguments whose kind is not `other`
  bool writes;              // some argument is written
  bool writes_lists;        // a written argument is a list of tensors
  bool gives_values;        // some result is not a tensor: it needs the data now
  bool random;              // takes a generator
  bool asks_gradients;      // the CPU kernel computes more where gradients will be asked for
};

// Calls `visit` with each operator of PyTorch's own namespace; its names are the dispatcher's.
template <typename Visit>
void for_each_aten_operator(Visit visit) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = dispatcher.findOp(name);
    if (op && op->hasSchema()) visit(*op);
  }
}

// "aten::add.Tensor" from its two parts.
std::string full_name(const c10::OperatorName& name);
TORCH_FL_API std::string short_name(const c10::OperatorName& name);

}  // namespace torch_fl
