// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

#include <cstdarg>
#include <cstdio>

namespace flagos::skeleton {
namespace {

thread_local char sentence[4096];  // no destructor: it can be read while the process exits

flagos_status translate(skeletonStatus status) {
  switch (status) {
    case skeletonOk: return FLAGOS_SUCCESS;
    case skeletonInvalid: return FLAGOS_ERROR_INVALID_ARGUMENT;
    case skeletonOutOfMemory: return FLAGOS_ERROR_OUT_OF_MEMORY;
    case skeletonBusy: return FLAGOS_ERROR_NOT_READY;
    case skeletonNoDevice: return FLAGOS_ERROR_NO_DEVICE;
    case skeletonWorkFailed: return FLAGOS_ERROR_ASYNC;
    default: return FLAGOS_ERROR_SYSTEM;
  }
}

}  // namespace

flagos_status fail(flagos_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  return status;
}

const char* last_error() { return sentence; }

flagos_status check(skeletonStatus status, const char* attempt) {
  if (status == skeletonOk) [[likely]]
    return FLAGOS_SUCCESS;
  return fail(translate(status), "cannot %s: the Skeleton runtime says: %s", attempt, skeletonLastError());
}

}  // namespace flagos::skeleton
