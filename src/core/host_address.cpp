// SPDX-License-Identifier: Apache-2.0
#include "host_address.h"

#include "allocator.h"

namespace torch_fl {

std::ptrdiff_t device_to_host_offset() {
  ensure_initialized();
  return host_offset();
}

}  // namespace torch_fl
