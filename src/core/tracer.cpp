// SPDX-License-Identifier: Apache-2.0
#include "tracer.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "platform.h"

namespace torch_fl {
namespace {

// Our copy: zero past the tracer's struct_size. Null magic: not loaded.
flagos_tracer table{};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

// Why the table cannot be used; empty when it can.
std::string refusal(const flagos_tracer* theirs, const std::string& id) {
  if (!theirs || theirs->magic != FLAGOS_TRACER_MAGIC) return "does not hold a flagos tracer table";
  if (theirs->abi_major != FLAGOS_TRACER_ABI_MAJOR || theirs->abi_minor > FLAGOS_TRACER_ABI_MINOR)
    return "speaks tracer contract " + std::to_string(theirs->abi_major) + "." + std::to_string(theirs->abi_minor) +
           " and libtorch_fl.so speaks " + std::to_string(FLAGOS_TRACER_ABI_MAJOR) + "." +
           std::to_string(FLAGOS_TRACER_ABI_MINOR);
  if (id != theirs->id) return "calls itself '" + std::string(theirs->id) + "', not '" + id + "'";
  if (theirs->struct_size < sizeof(flagos_tracer)) return "has a truncated tracer table";
  return {};
}

bool load(std::string* reason) {
  if (table.magic) return true;
  const std::string id = platform().id;
  const std::string file = library_folder() + "/libtorch_fl_platform_" + id + "_tracer.so";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    trace_log("platform '" + id + "' has no tracer: profiles have a CPU timeline only");
    return false;
  }
  const std::string remedy = "; install torch-fl-runtime and its platform from one build; the profile has a CPU timeline only";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *reason = "the tracer cannot be loaded: " + std::string(dlerror()) + remedy;
    return false;
  }
  const auto entry = reinterpret_cast<flagos_tracer_entry_function>(dlsym(library, FLAGOS_TRACER_ENTRY));
  const flagos_tracer* theirs = entry ? entry() : nullptr;
  if (const auto why = refusal(theirs, id); !why.empty()) {
    *reason = file + " " + why + remedy;
    return false;
  }
  std::memcpy(&table, theirs, sizeof(table));
  return true;
}

}  // namespace

const flagos_tracer* open_tracer(std::string* reason) {
  reason->clear();
  if (!platform_loaded() || !load(reason)) return nullptr;
  const std::string file = variable("FLAGOS_TRACER_LIBRARY");
  const char* opened = nullptr;
  if (table.open(file.empty() ? nullptr : file.c_str(), &opened) != FLAGOS_SUCCESS) {
    *reason = tracer_failure(table) + "; the profile has a CPU timeline only";
    return nullptr;
  }
  trace_log(std::string(table.name) + ": " + (opened ? opened : "open"));
  return &table;
}

std::string tracer_failure(const flagos_tracer& tracer) {
  const char* text = tracer.last_error();
  return text && *text ? text : std::string(tracer.name) + " failed without a reason";
}

void trace_warning(const std::string& sentence) { std::fprintf(stderr, "[flagos trace] %s\n", sentence.c_str()); }

void trace_log(const std::string& line) {
  if (const auto wanted = variable("FLAGOS_TRACE"); !wanted.empty() && wanted != "0") trace_warning(line);
}

}  // namespace torch_fl
