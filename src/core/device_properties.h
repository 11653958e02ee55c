// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <flagos_platform.h>

#include "device.h"

namespace torch_fl {

TORCH_FL_API flagos_device_properties device_properties(c10::DeviceIndex index);

}  // namespace torch_fl
