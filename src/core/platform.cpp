// SPDX-License-Identifier: Apache-2.0
#include "platform.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace torch_fl {
namespace {

flagos_platform table{};  // our copy: zero past the platform's struct_size
void* library = nullptr;
bool loaded = false;
std::string failure = "flagos: no platform is loaded; import torch_fl first";

// Says why the table cannot be used, and which package to change; empty when it can.
std::string refusal(const flagos_platform& theirs, const std::string& id, const std::string& file) {
  const std::string remedy = "; install torch-fl-runtime and its platform from one build (torch-fl=*=" + id + "*)";
  if (theirs.magic != FLAGOS_PLATFORM_MAGIC) return "flagos: " + file + " does not hold a flagos platform table" + remedy;
  if (theirs.abi_major != FLAGOS_PLATFORM_ABI_MAJOR || theirs.abi_minor > FLAGOS_PLATFORM_ABI_MINOR) {
    const bool older = theirs.abi_major < FLAGOS_PLATFORM_ABI_MAJOR;
    return "flagos: " + file + " speaks platform contract " + std::to_string(theirs.abi_major) + "." +
           std::to_string(theirs.abi_minor) + " and libtorch_fl.so speaks " + platform_abi() + "; update " +
           (older ? "the platform library" : "torch-fl-runtime") + remedy;
  }
  if (id != theirs.id) return "flagos: " + file + " calls itself '" + theirs.id + "', not '" + id + "'" + remedy;
  const size_t prefix = offsetof(flagos_platform, initialize);
  if (theirs.struct_size < prefix) return "flagos: " + file + " has a truncated platform table" + remedy;
  return {};
}

void open_platform(const std::string& id) {
  const std::string file = library_folder() + "/libtorch_fl_platform_" + id + ".so";
  library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  TORCH_CHECK(library, "flagos: platform '", id, "' cannot be loaded: ", dlerror(),
              "; is torch-fl-runtime installed for this platform, with its SDK's libraries?");
  auto entry = reinterpret_cast<flagos_platform_entry_function>(dlsym(library, FLAGOS_PLATFORM_ENTRY));
  TORCH_CHECK(entry, "flagos: ", file, " does not export " FLAGOS_PLATFORM_ENTRY "; it is not a flagos platform");
  const flagos_platform* theirs = entry();
  TORCH_CHECK(theirs, "flagos: ", file, " gave no platform table");
  const std::string reason = refusal(*theirs, id, file);
  TORCH_CHECK(reason.empty(), reason);
  std::memcpy(&table, theirs, std::min<size_t>(theirs->struct_size, sizeof(table)));
}

}  // namespace

std::string library_folder() {
  Dl_info info{};
  TORCH_CHECK(dladdr(reinterpret_cast<void*>(&load_platform), &info) && info.dli_fname,
              "flagos: the dynamic loader cannot tell where libtorch_fl.so is");
  std::string path = info.dli_fname;
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

void load_platform(const std::string& id) {
  TORCH_CHECK(!loaded, "flagos: platform '", table.id, "' is loaded already; one process has one platform");
  try {
    open_platform(id);
    loaded = true;
  } catch (const c10::Error& error) {
    failure = error.what_without_backtrace();
    throw;
  }
}

const flagos_platform& platform() {
  TORCH_CHECK(C10_LIKELY(loaded), failure);
  return table;
}

bool platform_loaded() noexcept { return loaded; }
bool platform_has(uint32_t capability) noexcept { return (table.capabilities & capability) == capability; }
void* platform_symbol(const char* name) noexcept { return loaded ? dlsym(library, name) : nullptr; }

void check(flagos_status status, const char* doing) {
  if (C10_LIKELY(status == FLAGOS_SUCCESS)) return;
  const char* reason = table.last_error ? table.last_error() : nullptr;
  TORCH_CHECK(false, "flagos: could not ", doing, ": ", reason && *reason ? reason : "the platform gives no reason");
}

std::string platform_abi() {
  return std::to_string(FLAGOS_PLATFORM_ABI_MAJOR) + "." + std::to_string(FLAGOS_PLATFORM_ABI_MINOR);
}

}  // namespace torch_fl
