// SPDX-License-Identifier: Apache-2.0
#include "runtime.h"

namespace flagos::skeleton {
namespace {

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

flagos_status check(skeletonStatus status, const char* attempt) {
  if (status == skeletonOk) [[likely]]
    return FLAGOS_SUCCESS;
  return fail(translate(status), "cannot %s: the Skeleton runtime says: %s", attempt, skeletonLastError());
}

}  // namespace flagos::skeleton
