// SPDX-License-Identifier: Apache-2.0
// An error of queued work, on its way to whoever synchronises next.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "sentence.h"

namespace flagos::host {

// Shared by every stream that the bad data has reached through events; told once.
struct Failure {
  std::string message;
  std::atomic<bool> reported{false};

  explicit Failure(std::string text) : message(std::move(text)) {}
};
using FailurePointer = std::shared_ptr<Failure>;

inline bool is_pending(const FailurePointer& failure) { return failure && !failure->reported.load(); }

// FLAGOS_ERROR_ASYNC with the message for the first caller, FLAGOS_SUCCESS for the others.
inline flagos_status report(const FailurePointer& failure) {
  if (!failure || failure->reported.exchange(true)) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_ASYNC, "%s", failure->message.c_str());
}

}  // namespace flagos::host
