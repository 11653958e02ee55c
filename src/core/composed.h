// SPDX-License-Identifier: Apache-2.0
// composed.h: the kernels of slot `host`: operators that PyTorch asks of PrivateUse1 under names the CPU does not serve,
// composed of operators that it does.
#pragma once

#include <torch/library.h>

#include <string>
#include <vector>

namespace torch_fl {

// The operators of the slot, and their registration one by one.
const std::vector<std::string>& composed_operators();
void register_composed(torch::Library& library, const std::string& op, const std::string& origin);

}  // namespace torch_fl
