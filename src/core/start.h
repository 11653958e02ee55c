// SPDX-License-Identifier: Apache-2.0
// start.h: the one place where torch-fl makes itself known to PyTorch.
#pragma once

#include <string>
#include <vector>

#include "conditions.h"
#include "macros.h"

namespace torch_fl {

struct RouteStep {
  std::string backend;  // a slot, or "none": the CPU's kernel or PyTorch's composition
  std::vector<ConditionText> conditions;
};

struct RouteRequest {
  std::string op;  // "add.Tensor"
  std::vector<RouteStep> chain;
  std::string origin;  // for error texts and `torch-fl routes`
};

// Loads the platform and registers allocator, guard, hooks and kernels. Once a process; throws one sentence.
TORCH_FL_API void start(const std::string& platform_id, const std::vector<RouteRequest>& requests);

// For exit: lets the autograd engine's device threads drop what they hold of Python, and finishes queued work.
TORCH_FL_API void shutdown() noexcept;

}  // namespace torch_fl
