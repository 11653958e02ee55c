// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <flagos_emulation.h>

#include <cstdarg>
#include <cstdio>

namespace flagos::musa {
namespace {

flagos_status translate(musaError_t error) {
  switch (error) {
    case musaSuccess: return FLAGOS_SUCCESS;
    case musaErrorInvalidValue:
    case musaErrorInvalidDevice:
    case musaErrorInvalidResourceHandle:
    case musaErrorInvalidMemcpyDirection: return FLAGOS_ERROR_INVALID_ARGUMENT;
    case musaErrorMemoryAllocation: return FLAGOS_ERROR_OUT_OF_MEMORY;
    case musaErrorNotReady: return FLAGOS_ERROR_NOT_READY;
    case musaErrorNoDevice:
    case musaErrorInsufficientDriver: return FLAGOS_ERROR_NO_DEVICE;
    case musaErrorNotSupported: return FLAGOS_ERROR_NOT_SUPPORTED;
    case musaErrorIllegalAddress:
    case musaErrorLaunchFailure: return FLAGOS_ERROR_ASYNC;
    default: return FLAGOS_ERROR_SYSTEM;
  }
}

const char* remedy(musaError_t error) {
  switch (error) {
    case musaErrorNoDevice:
    case musaErrorInsufficientDriver:
      return "; install the Moore Threads driver, or one that is new enough for this MUSA runtime, and see whether "
             "mthreads-gmi "
             "lists a card (MUSA_VISIBLE_DEVICES chooses among them)";
    case musaErrorMemoryAllocation:
      return "; free memory or use smaller tensors (torch.flagos.memory_summary() shows what is held)";
    case musaErrorIllegalAddress:
    case musaErrorLaunchFailure:
      return "; a kernel that was queued before has failed: synchronise after each step to find it, and start a new process, "
             "since the device may refuse all further work";
    case musaErrorInitializationError: return "; see whether mthreads-gmi lists the card";
    default: return "";
  }
}

}  // namespace

flagos_status check(musaError_t error, const char* function, const char* attempt, ...) {
  if (error == musaSuccess) [[likely]]
    return FLAGOS_SUCCESS;
  musaGetLastError();
  char attempted[1024];
  va_list arguments;
  va_start(arguments, attempt);
  std::vsnprintf(attempted, sizeof(attempted), attempt, arguments);
  va_end(arguments);
  const char* more = flagos_emulation_last_error ? flagos_emulation_last_error() : "";
  return fail(translate(error), "cannot %s: %s says %s (%s)%s%s%s", attempted, function, musaGetErrorString(error),
              musaGetErrorName(error), *more ? ": " : "", more, remedy(error));
}

}  // namespace flagos::musa
