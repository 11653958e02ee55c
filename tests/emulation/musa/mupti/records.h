// SPDX-License-Identifier: Apache-2.0
// records.h: from what the emulated devices tell to the records of the enabled kinds.
#pragma once

#include <cstdint>

#include "emulation/exports.h"

namespace mupti {

// Bits 1 << MUpti_ActivityKind. Observes the devices while there is one.
void enable_kinds(uint64_t kinds);

}  // namespace mupti
