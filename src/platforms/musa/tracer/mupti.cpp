// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "api.h"

namespace flagos::musa {
namespace {

Mupti functions{};
std::string opened_path;  // empty: nothing is open
thread_local std::string sentence;

// The loader's own search comes first (run path, LD_LIBRARY_PATH), then the toolkit, which has the versioned name alone where
// only its runtime part is installed.
std::vector<std::string> usual_names() {
  std::vector<std::string> names{"libmupti.so"};
  for (const char* variable : {"MUSA_HOME", "MUSA_PATH", "MUSA_ROOT"})
    if (const char* root = std::getenv(variable); root && *root) names.push_back(std::string(root) + "/lib/libmupti.so");
  names.insert(names.end(), {"/usr/local/musa/lib/libmupti.so", "libmupti.so.1.2"});
  return names;
}

template <typename Function>
bool find(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  return *out != nullptr;
}

// The name of a function that the library lacks; null when it has all.
const char* missing_function(void* library, Mupti* out) {
#define FIND(field, name) \
  if (!find(library, #name, &out->field)) return #name
  FIND(enable, muptiActivityEnable);
  FIND(disable, muptiActivityDisable);
  FIND(register_callbacks, muptiActivityRegisterCallbacks);
  FIND(flush, muptiActivityFlushAll);
  FIND(next_record, muptiActivityGetNextRecord);
  FIND(dropped_records, muptiActivityGetNumDroppedRecords);
  FIND(push_external, muptiActivityPushExternalCorrelationId);
  FIND(pop_external, muptiActivityPopExternalCorrelationId);
  FIND(timestamp, muptiGetTimestamp);
  FIND(callback_name, muptiGetCallbackName);
  FIND(result_string, muptiGetResultString);
#undef FIND
  return nullptr;
}

}  // namespace

const char* last_error() noexcept { return sentence.c_str(); }

flagos_status fail(flagos_status status, std::string text) {
  sentence = std::move(text);
  return status;
}

flagos_status checked(MUptiResult result, const char* doing) {
  if (result == MUPTI_SUCCESS) return FLAGOS_SUCCESS;
  const char* word = nullptr;
  if (functions.result_string(result, &word) != MUPTI_SUCCESS || !word) word = "an unknown error";
  std::string text = std::string("MUPTI could not ") + doing + ": " + word + " (" + std::to_string(result) + ")";
  if (result == MUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    text += "; another tool traces this process, and MUPTI serves one: run without it";
  return fail(FLAGOS_ERROR_SYSTEM, std::move(text));
}

const Mupti* mupti() noexcept { return opened_path.empty() ? nullptr : &functions; }

flagos_status open_mupti(const char* file, const char** opened) {
  if (opened_path.empty()) {
    const auto names = file && *file ? std::vector<std::string>{file} : usual_names();
    void* library = nullptr;
    std::string reason;
    for (const auto& name : names) {
      if ((library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
      if (reason.empty()) reason = dlerror();
    }
    if (!library)
      return fail(FLAGOS_ERROR_NOT_SUPPORTED,
                  "MUPTI cannot be opened (" + reason + "); set FLAGOS_TRACER_LIBRARY to the libmupti.so of the MUSA toolkit");
    if (const char* name = missing_function(library, &functions)) {
      const std::string text = (file && *file ? file : names.front()) + std::string(" has no ") + name +
                               ": it is not MUPTI; set FLAGOS_TRACER_LIBRARY to the libmupti.so of the MUSA toolkit";
      dlclose(library);
      return fail(FLAGOS_ERROR_NOT_SUPPORTED, text);
    }
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(functions.enable), &info);
    opened_path = info.dli_fname ? info.dli_fname : "libmupti.so";
  }
  *opened = opened_path.c_str();
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::musa
