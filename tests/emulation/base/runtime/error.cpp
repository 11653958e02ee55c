// SPDX-License-Identifier: Apache-2.0
// Errors: names, texts, and the thread's last one.
#include <cstdlib>
#include <optional>

#include "call.h"
#include "contract.h"

namespace runtime {
namespace {

struct Text {
  Error error;
  const char* name;
  const char* text;
};

#define TEXT(error, text) {RT(error), RT_NAME(error), text}
constexpr Text kTexts[] = {
    TEXT(Success, "no error"),
    TEXT(ErrorInvalidValue, "invalid argument"),
    TEXT(ErrorMemoryAllocation, "out of memory"),
    TEXT(ErrorInitializationError, "initialization error"),
    TEXT(ErrorDeinitialized, "driver shutting down"),
    TEXT(ErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    TEXT(ErrorInsufficientDriver, "driver version is insufficient for runtime version"),
    TEXT(ErrorNoDevice, "no capable device is detected"),
    TEXT(ErrorInvalidDevice, "invalid device ordinal"),
    TEXT(ErrorInvalidResourceHandle, "invalid resource handle"),
    TEXT(ErrorNotReady, "device not ready"),
    TEXT(ErrorIllegalAddress, "an illegal memory access was encountered"),
    TEXT(ErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    TEXT(ErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    TEXT(ErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    TEXT(ErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    TEXT(ErrorLaunchFailure, "unspecified launch failure"),
    TEXT(ErrorNotPermitted, "operation not permitted"),
    TEXT(ErrorNotSupported, "operation not supported"),
    TEXT(ErrorUnknown, "unknown error"),
};
#undef TEXT

std::optional<Text> find(Error error) {
  for (const auto& entry : kTexts)
    if (entry.error == error) return entry;
  for (const auto* entry = own_errors; entry->name; ++entry)
    if (entry->own == error) return Text{entry->own, entry->name, entry->text};
  return std::nullopt;
}

Error spelled(Error error) {
  static const bool own = odd("own_errors");
  for (const auto* entry = own_errors; own && entry->name; ++entry)
    if (entry->common == error) return entry->own;
  return error;
}

thread_local constinit Error last = RT(Success);

}  // namespace

Error remember(Error error) {
  if (error == RT(Success)) return error;
  return last = spelled(error);
}

Error translate(flagos_status status) {
  switch (status) {
    case FLAGOS_SUCCESS: return RT(Success);
    case FLAGOS_ERROR_INVALID_ARGUMENT: return RT(ErrorInvalidValue);
    case FLAGOS_ERROR_OUT_OF_MEMORY: return RT(ErrorMemoryAllocation);
    case FLAGOS_ERROR_NOT_READY: return RT(ErrorNotReady);
    case FLAGOS_ERROR_NO_DEVICE: return RT(ErrorNoDevice);
    case FLAGOS_ERROR_NOT_SUPPORTED: return RT(ErrorNotSupported);
    case FLAGOS_ERROR_ASYNC: return RT(ErrorLaunchFailure);
    case FLAGOS_ERROR_SYSTEM: return flagos::ready ? RT(ErrorUnknown) : RT(ErrorInitializationError);
  }
  return RT(ErrorUnknown);
}

}  // namespace runtime

using namespace runtime;

extern "C" {

const char* RT(GetErrorName)(Error error) {
  const auto entry = find(error);
  return entry ? entry->name : "unrecognized error code";
}

const char* RT(GetErrorString)(Error error) {
  const auto entry = find(error);
  return entry ? entry->text : "unrecognized error code";
}

Error RT(GetLastError)() {
  const Error error = last;
  last = RT(Success);
  return error;
}

Error RT(PeekAtLastError)() { return last; }
}
