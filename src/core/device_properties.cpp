// SPDX-License-Identifier: Apache-2.0
#include "device_properties.h"

#include "platform.h"

namespace torch_fl {

flagos_device_properties device_properties(c10::DeviceIndex index) {
  check_index(index);
  ensure_initialized();
  flagos_device_properties properties{};
  check(platform().device_properties(index, &properties), "read the device's properties");
  return properties;
}

}  // namespace torch_fl
