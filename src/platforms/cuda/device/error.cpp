// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <cstdarg>
#include <cstdio>

namespace flagos::cuda {
namespace {

flagos_status translate(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return FLAGOS_SUCCESS;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidMemcpyDirection: return FLAGOS_ERROR_INVALID_ARGUMENT;
    case cudaErrorMemoryAllocation: return FLAGOS_ERROR_OUT_OF_MEMORY;
    case cudaErrorNotReady: return FLAGOS_ERROR_NOT_READY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return FLAGOS_ERROR_NO_DEVICE;
    case cudaErrorNotSupported: return FLAGOS_ERROR_NOT_SUPPORTED;
    case cudaErrorIllegalAddress:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure: return FLAGOS_ERROR_ASYNC;
    default: return FLAGOS_ERROR_SYSTEM;
  }
}

const char* remedy(cudaError_t error) {
  switch (error) {
    case cudaErrorNoDevice:
      return "; see whether nvidia-smi lists a card (CUDA_VISIBLE_DEVICES chooses among them)";
    case cudaErrorInsufficientDriver:
      return "; install the NVIDIA driver, or one that is new enough for this CUDA runtime, and see whether nvidia-smi lists a card";
    case cudaErrorMemoryAllocation:
      return "; free memory or use smaller tensors (torch.flagos.memory_summary() shows what is held)";
    case cudaErrorIllegalAddress:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
      return "; a kernel that was queued before has failed, and the process can use the card no further: run it again with "
             "CUDA_LAUNCH_BLOCKING=1 to see which";
    case cudaErrorInitializationError:
      return "; a process that was forked after CUDA was used cannot use it: start workers with the spawn method";
    default: return "";
  }
}

}  // namespace

flagos_status check(cudaError_t error, const char* function, const char* attempt, ...) {
  if (error == cudaSuccess) [[likely]]
    return FLAGOS_SUCCESS;
  cudaGetLastError();
  char attempted[1024];
  va_list arguments;
  va_start(arguments, attempt);
  std::vsnprintf(attempted, sizeof(attempted), attempt, arguments);
  va_end(arguments);
  return fail(translate(error), "cannot %s: %s says %s (%s)%s", attempted, function, cudaGetErrorString(error),
              cudaGetErrorName(error), remedy(error));
}

}  // namespace flagos::cuda
