// SPDX-License-Identifier: Apache-2.0
// api.h: the functions of MUPTI that the tracer calls, from the library that `open` found.
#pragma once

#include <flagos_tracer.h>
#include <mupti.h>

#include <string>

namespace flagos::musa {

struct Mupti {
  decltype(&::muptiActivityEnable) enable;
  decltype(&::muptiActivityDisable) disable;
  decltype(&::muptiActivityRegisterCallbacks) register_callbacks;
  decltype(&::muptiActivityFlushAll) flush;
  decltype(&::muptiActivityGetNextRecord) next_record;
  decltype(&::muptiActivityGetNumDroppedRecords) dropped_records;
  decltype(&::muptiActivityPushExternalCorrelationId) push_external;
  decltype(&::muptiActivityPopExternalCorrelationId) pop_external;
  decltype(&::muptiGetTimestamp) timestamp;
  decltype(&::muptiGetCallbackName) callback_name;
  decltype(&::muptiGetResultString) result_string;
};

// Null before `open_mupti` has succeeded.
const Mupti* mupti() noexcept;

// Opens `file`, or the first of the usual names that there is; `opened` becomes its path.
flagos_status open_mupti(const char* file, const char** opened);

// The thread's last failure, one sentence.
const char* last_error() noexcept;
flagos_status fail(flagos_status status, std::string sentence);
// Success, or a failure whose sentence tells what was attempted and MUPTI's word for why not.
flagos_status checked(MUptiResult result, const char* doing);

}  // namespace flagos::musa
