// SPDX-License-Identifier: Apache-2.0
#include "route_log.h"

#include <cstdio>
#include <memory>
#include <mutex>

namespace torch_fl {
namespace {

std::atomic<bool> log_dispatch{false};
std::atomic<bool> log_fallback{false};

struct Table {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Route>> entries;
};

Table& log_table() {
  static auto* instance = new Table();
  return *instance;
}

// People search logs for the earlier words of the two FlagGems slots.
const char* log_word(const std::string& backend) {
  return backend == "flaggems" ? "flagos_python" : backend == "flaggems_cpp" ? "flagos" : backend.c_str();
}

}  // namespace

namespace log_switch {
std::atomic<bool> any{false};
}

Route* route(const std::string& op, const std::string& backend, const std::string& origin) {
  auto& t = log_table();
  std::lock_guard<std::mutex> lock(t.mutex);
  auto& entry = t.entries[{op, backend}];
  if (!entry) {
    entry = std::make_unique<Route>();
    entry->op = op;
    entry->backend = backend;
    entry->origin = origin;
  }
  return entry.get();
}

void log_served(const Route& route) {
  if (log_dispatch.load()) std::fprintf(stderr, "[flagos dispatch] %s -> %s\n", route.op.c_str(), log_word(route.backend));
  if (log_fallback.load() && route.backend == "cpu")
    std::fprintf(stderr, "[flagos cpu_fallback] %s%s\n", route.op.find("::") == std::string::npos ? "aten::" : "",
                 route.op.c_str());
}

void log_declined(const std::string& op, const std::string& backend, const char* reason) {
  if (log_dispatch.load()) std::fprintf(stderr, "[flagos declined] %s: %s (%s)\n", op.c_str(), backend.c_str(), reason);
}

void set_log(bool dispatch, bool fallback) {
  log_dispatch = dispatch;
  log_fallback = fallback;
  log_switch::any = dispatch || fallback;
}

std::vector<const Route*> routes() {
  auto& t = log_table();
  std::lock_guard<std::mutex> lock(t.mutex);
  std::vector<const Route*> result;
  for (auto& [key, entry] : t.entries) result.push_back(entry.get());
  return result;
}

std::map<std::pair<std::string, std::string>, uint64_t> dispatch_counts() {
  std::map<std::pair<std::string, std::string>, uint64_t> result;
  for (const Route* entry : routes())
    if (const uint64_t calls = entry->calls.load()) result[{entry->op, entry->backend}] = calls;
  return result;
}

void reset_dispatch_counts() {
  for (const Route* entry : routes()) const_cast<Route*>(entry)->calls.store(0);
}

}  // namespace torch_fl
