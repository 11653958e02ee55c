// SPDX-License-Identifier: Apache-2.0
// external.h: ids that a tool puts around calls, one stack a thread and kind.
#pragma once

#include "mupti_activity.h"

namespace mupti {

// The innermost id of this thread; false when there is none.
bool innermost_external(MUpti_ExternalCorrelationKind kind, uint64_t* id);

}  // namespace mupti
