// SPDX-License-Identifier: Apache-2.0
// records.h: one MUPTI record in the tracer's contract's terms.
#pragma once

#include "api.h"

namespace flagos::musa {

constexpr auto kOperatorIds = MUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr auto kAnnotationIds = MUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;

// False for a record that has nothing to tell: of another kind, or without times. Strings are MUPTI's.
bool translate(const MUpti_Activity& record, flagos_activity* out);

}  // namespace flagos::musa
