// SPDX-License-Identifier: Apache-2.0
// tracer.h: the platform's tracing library, behind the C contract of flagos_tracer.h; opened by the first session that needs it.
#pragma once

#include <flagos_tracer.h>

#include <string>

#include "macros.h"

namespace torch_fl {

// The tracer with its vendor's library open, or null: then `reason` is one sentence, or empty where the platform has no tracer.
// `FLAGOS_TRACER_LIBRARY` names the vendor's library. A failure is tried again by the next session.
const flagos_tracer* open_tracer(std::string* reason);

// The sentence after a failure of the tracer.
std::string tracer_failure(const flagos_tracer& tracer);

// "[flagos trace] ..." on stderr: always, or with FLAGOS_TRACE=1 only.
void trace_warning(const std::string& sentence);
void trace_log(const std::string& line);

}  // namespace torch_fl
