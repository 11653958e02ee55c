// SPDX-License-Identifier: Apache-2.0
// Errors: names, texts, and the thread's last one.
#include <cstdlib>

#include "call.h"
#include "contract.h"

namespace musart {
namespace {

struct Text {
  musaError_t error;
  const char* name;
  const char* text;
};

constexpr Text kTexts[] = {
#define MUSART_TEXT(error, text) {error, #error, text},
    MUSART_TEXT(musaSuccess, "no error") MUSART_TEXT(musaErrorInvalidValue, "invalid argument") MUSART_TEXT(
        musaErrorMemoryAllocation, "out of memory") MUSART_TEXT(musaErrorInitializationError, "initialization error")
        MUSART_TEXT(musaErrorDeinitialized, "driver shutting down")
            MUSART_TEXT(musaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")
                MUSART_TEXT(musaErrorInsufficientDriver, "MUSA driver version is insufficient for MUSA runtime version")
                    MUSART_TEXT(musaErrorNoDevice, "no MUSA-capable device is detected")
                        MUSART_TEXT(musaErrorInvalidDevice, "invalid device ordinal")
                            MUSART_TEXT(musaErrorInvalidResourceHandle, "invalid resource handle")
                                MUSART_TEXT(musaErrorNotReady, "device not ready")
                                    MUSART_TEXT(musaErrorIllegalAddress, "an illegal memory access was encountered")
                                        MUSART_TEXT(musaErrorPeerAccessAlreadyEnabled, "peer access is already enabled")
                                            MUSART_TEXT(musaErrorPeerAccessNotEnabled, "peer access has not been enabled")
                                                MUSART_TEXT(musaErrorHostMemoryAlreadyRegistered,
                                                            "part or all of the requested memory range is already mapped")
                                                    MUSART_TEXT(musaErrorHostMemoryNotRegistered,
                                                                "pointer does not correspond to a registered memory region")
                                                        MUSART_TEXT(musaErrorLaunchFailure, "unspecified launch failure")
                                                            MUSART_TEXT(musaErrorNotPermitted, "operation not permitted")
                                                                MUSART_TEXT(musaErrorNotSupported, "operation not supported")
                                                                    MUSART_TEXT(musaErrorUnknown, "unknown error")
#undef MUSART_TEXT
};

const Text* find(musaError_t error) {
  for (const auto& entry : kTexts)
    if (entry.error == error) return &entry;
  return nullptr;
}

thread_local constinit musaError_t last = musaSuccess;

}  // namespace

musaError_t remember(musaError_t error) {
  if (error != musaSuccess) last = error;
  return error;
}

musaError_t translate(flagos_status status) {
  switch (status) {
    case FLAGOS_SUCCESS: return musaSuccess;
    case FLAGOS_ERROR_INVALID_ARGUMENT: return musaErrorInvalidValue;
    case FLAGOS_ERROR_OUT_OF_MEMORY: return musaErrorMemoryAllocation;
    case FLAGOS_ERROR_NOT_READY: return musaErrorNotReady;
    case FLAGOS_ERROR_NO_DEVICE: return musaErrorNoDevice;
    case FLAGOS_ERROR_NOT_SUPPORTED: return musaErrorNotSupported;
    case FLAGOS_ERROR_ASYNC: return musaErrorLaunchFailure;
    case FLAGOS_ERROR_SYSTEM: return flagos::ready ? musaErrorUnknown : musaErrorInitializationError;
  }
  return musaErrorUnknown;
}

}  // namespace musart

extern "C" {

const char* musaGetErrorName(musaError_t error) {
  const auto* entry = musart::find(error);
  return entry ? entry->name : "unrecognized error code";
}

const char* musaGetErrorString(musaError_t error) {
  const auto* entry = musart::find(error);
  return entry ? entry->text : "unrecognized error code";
}

musaError_t musaGetLastError() {
  const musaError_t error = musart::last;
  musart::last = musaSuccess;
  return error;
}

musaError_t musaPeekAtLastError() { return musart::last; }
}
