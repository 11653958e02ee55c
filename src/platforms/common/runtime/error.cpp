// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <flagos_emulation.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {
namespace {

flagos_status translate(runtime::Error error) {
  switch (error) {
    case runtime::kSuccess: return FLAGOS_SUCCESS;
    case runtime::kInvalidValue:
    case runtime::kInvalidDevice:
    case runtime::kInvalidHandle:
    case runtime::kInvalidDirection: return FLAGOS_ERROR_INVALID_ARGUMENT;
    case runtime::kOutOfMemory: return FLAGOS_ERROR_OUT_OF_MEMORY;
    case runtime::kNotReady: return FLAGOS_ERROR_NOT_READY;
    case runtime::kNoDevice:
    case runtime::kOldDriver: return FLAGOS_ERROR_NO_DEVICE;
    case runtime::kNotSupported: return FLAGOS_ERROR_NOT_SUPPORTED;
    case runtime::kIllegalAddress:
    case runtime::kLaunchFailure: return FLAGOS_ERROR_ASYNC;
    default: return FLAGOS_ERROR_SYSTEM;
  }
}

[[gnu::format(printf, 1, 2)]] void add(const char* format, ...) {
  const size_t used = std::strlen(sentence);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence + used, sizeof(sentence) - used, format, arguments);
  va_end(arguments);
}

// What to do about it, behind the stored sentence.
void add_remedy(runtime::Error error) {
  switch (error) {
    case runtime::kNoDevice:
    case runtime::kOldDriver:
      return add(
          "; install the %s, or one that is new enough for this %s runtime, and see whether %s lists a card (%s chooses among "
          "them)",
          vendor::kDriver, vendor::kTitle, vendor::kMonitor, vendor::kVisibleDevices);
    case runtime::kOutOfMemory:
      return add("; free memory or use smaller tensors (torch.flagos.memory_summary() shows what is held)");
    case runtime::kIllegalAddress:
    case runtime::kLaunchFailure:
      return add(
          "; a kernel that was queued before has failed: synchronise after each step to find it, and start a new process, "
          "since the device may refuse all further work");
    case runtime::kNotInitialized: return add("; see whether %s lists the card", vendor::kMonitor);
    default: return;
  }
}

}  // namespace

flagos_status check(runtime::Answer answer, const char* attempt, ...) {
  if (answer.error == runtime::kSuccess) [[likely]]
    return FLAGOS_SUCCESS;
  runtime::forget_last_error();
  char attempted[1024];
  va_list arguments;
  va_start(arguments, attempt);
  std::vsnprintf(attempted, sizeof(attempted), attempt, arguments);
  va_end(arguments);
  const char* more = flagos_emulation_last_error ? flagos_emulation_last_error() : "";
  const runtime::Error common = vendor::common(answer.error);
  const flagos_status status = translate(common);
  fail(status, "cannot %s: %s says %s (%s)%s%s", attempted, answer.function, runtime::text_of(answer.error),
       runtime::name_of(answer.error), *more ? ": " : "", more);
  add_remedy(common);
  return status;
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
