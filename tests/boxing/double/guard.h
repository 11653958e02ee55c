// SPDX-License-Identifier: Apache-2.0
// guard.h: one device whose work is done when a call returns, with streams and events that keep their identity.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torch_fl::double_ {

const c10::impl::DeviceGuardImplInterface& guard();
int priority_of(c10::StreamId id);

}  // namespace torch_fl::double_
