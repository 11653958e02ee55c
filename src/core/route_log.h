// SPDX-License-Identifier: Apache-2.0
// route_log.h: which kernel serves which operator: the table, the counts, and the two log lines on stderr.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "macros.h"

namespace torch_fl {

struct Route {
  std::string op;       // "add.Tensor"
  std::string backend;  // "host", "cpu", ...
  std::string origin;   // who decided: "default", "backends_host.conf:12", "FLAGOS_OP_mm"
  std::atomic<uint64_t> calls{0};
};

namespace log_switch {
extern std::atomic<bool> any;
}

// Enters an operator in the table, or returns its entry. Entries are never removed.
Route* route(const std::string& op, const std::string& backend, const std::string& origin = "default");

void log_served(const Route& route);  // writes the line that is switched on

// Counts a call and says it where a log is on. A few nanoseconds otherwise.
inline void served(Route* route) {
  route->calls.fetch_add(1, std::memory_order_relaxed);
  if (__builtin_expect(log_switch::any.load(std::memory_order_relaxed), 0)) log_served(*route);
}

TORCH_FL_API void set_log(bool dispatch, bool fallback);
TORCH_FL_API std::vector<const Route*> routes();
TORCH_FL_API std::map<std::pair<std::string, std::string>, uint64_t> dispatch_counts();  // (op, backend): calls
TORCH_FL_API void reset_dispatch_counts();

}  // namespace torch_fl
