// SPDX-License-Identifier: Apache-2.0
// boxed.h: the kernel of an operator of which only the schema is known.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <flagos_kernels.h>

#include <vector>

#include "call.h"

namespace torch_fl::boxing {

class BoxedKernel final : public c10::OperatorKernel {
 public:
  BoxedKernel(const c10::OperatorHandle& op, Route** route);
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  size_t arguments_, returns_;
  std::vector<bool> written_;  // by argument
  const std::string name_;
  const Facts facts_;
  Route** const route_;
};

void add_boxed(KernelTable& table, const c10::OperatorHandle& op);

}  // namespace torch_fl::boxing
