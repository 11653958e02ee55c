// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <cstdarg>
#include <cstdio>

namespace flagos::host {
namespace {

// A plain array: it has no destructor, so it can still be read and written while the process exits.
thread_local char sentence[4096];

}  // namespace

flagos_status fail(flagos_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  return status;
}

const char* last_error() { return sentence; }

}  // namespace flagos::host
