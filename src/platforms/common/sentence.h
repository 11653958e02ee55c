// SPDX-License-Identifier: Apache-2.0
// The sentence behind the calling thread's last failure; one in each platform library.
#pragma once

#include <flagos_platform.h>

#include <cstdarg>
#include <cstdio>

namespace flagos {

// A plain array: it has no destructor, so it can still be read and written while the process exits.
inline thread_local char sentence[4096];

// Stores a printf-style sentence for the calling thread and returns `status`, so that `return fail(...)` reads well.
[[gnu::format(printf, 2, 3)]] inline flagos_status fail(flagos_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  return status;
}

// The last stored sentence; "" before the first failure. Valid until the thread's next failure.
inline const char* last_error() { return sentence; }

}  // namespace flagos
