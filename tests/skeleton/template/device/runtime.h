// SPDX-License-Identifier: Apache-2.0
// The vendor's runtime and the contract: errors, handles. The other files know neither side's numbers.
#pragma once

#include <skeleton_runtime.h>

#include "contract.h"

namespace flagos::skeleton {

// FLAGOS_SUCCESS for skeletonOk; otherwise the sentence says what was attempted ("allocate memory"), and the runtime's reason.
flagos_status check(skeletonStatus status, const char* attempt);

inline skeletonStream native(flagos_stream stream) { return reinterpret_cast<skeletonStream>(stream); }
inline skeletonEvent native(flagos_event event) { return reinterpret_cast<skeletonEvent>(event); }

}  // namespace flagos::skeleton
