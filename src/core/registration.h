// SPDX-License-Identifier: Apache-2.0
// registration.h: places to register kernels at.
#pragma once

#include <torch/library.h>

namespace torch_fl {

// A place that lasts as long as the process: registrations end with their Library. `name` "_" is every namespace.
inline torch::Library& registrations(const char* name, c10::DispatchKey key) {
  return *new torch::Library(torch::Library::IMPL, name, key, __FILE__, __LINE__);
}

}  // namespace torch_fl
