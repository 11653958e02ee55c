// SPDX-License-Identifier: Apache-2.0
// slots.h: the kernels that are installed here, by slot and operator.
#pragma once

#include <flagos_kernels.h>

#include <string>
#include <utility>
#include <vector>

#include "macros.h"

namespace torch_fl {

// Loads every libtorch_fl_*.so beside libtorch_fl.so and in `folders` that is no platform, and the `others` by their paths;
// throws one sentence where one cannot be used, or two are of one slot.
TORCH_FL_API void load_kernel_libraries(const std::vector<std::string>& folders, const std::vector<std::string>& others = {});

// Null where the slot has no kernel for the operator that a route may name.
const SlotKernel* find_kernel(const std::string& slot, const std::string& op);

// The slot and the kernel that stands in front of the operator's route; null where there is none.
std::pair<std::string, const SlotKernel*> find_front(const std::string& op);

TORCH_FL_API std::vector<std::string> known_slots();  // `host` last: a vendor's kernels come before it
TORCH_FL_API std::vector<std::string> slot_operators(const std::string& slot);

}  // namespace torch_fl
