// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "macros.h"

namespace torch_fl {

void register_guard();

c10::DeviceCapability device_capability();  // all data types but the quantized

// Milliseconds between two recorded events, given as c10::Event::eventId gives them.
TORCH_FL_API double event_elapsed(void* start, void* end);

}  // namespace torch_fl
