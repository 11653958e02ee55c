// SPDX-License-Identifier: Apache-2.0
// route_log.h: which kernel serves which operator: the table, the counts, and the two log lines on stderr.
#pragma once

#include <flagos_kernels.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "macros.h"

namespace torch_fl {

// Enters an operator in the table, or returns its entry. Entries are never removed.
Route* route(const std::string& op, const std::string& backend, const std::string& origin = "default");

// Says that a kernel of a chain has left a call to the next one.
void log_declined(const std::string& op, const std::string& backend, const char* reason);

TORCH_FL_API void set_log(bool dispatch, bool fallback);
TORCH_FL_API std::vector<const Route*> routes();
TORCH_FL_API std::map<std::pair<std::string, std::string>, uint64_t> dispatch_counts();  // (op, backend): calls
TORCH_FL_API void reset_dispatch_counts();

}  // namespace torch_fl
