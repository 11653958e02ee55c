// SPDX-License-Identifier: Apache-2.0
#include "host_address.h"

#include "allocator.h"
#include "platform.h"

namespace torch_fl {

bool compiled_kernels_run_on_host() noexcept {
  return platform_loaded() && platform().host_offset && platform().launch_host_function;
}

std::ptrdiff_t device_to_host_offset() {
  ensure_initialized();
  return host_offset();
}

}  // namespace torch_fl
