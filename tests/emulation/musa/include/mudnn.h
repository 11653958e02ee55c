// SPDX-License-Identifier: Apache-2.0
// mudnn.h: the older place of the mudnn header; SDK 5.1 keeps it in mudnncxx/.
#pragma once

#include "mudnncxx/mudnn.h"  // IWYU pragma: export
