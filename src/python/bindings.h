// SPDX-License-Identifier: Apache-2.0
// bindings.h: the parts that module.cpp puts together.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <pybind11/pybind11.h>

#include <limits>

namespace torch_fl {

void bind_memory(pybind11::module_& m);
void bind_properties(pybind11::module_& m);
void bind_target(pybind11::module_& m);

// A Python int as a device index; out of int8's range is no index either.
inline c10::DeviceIndex narrow_index(int index) {
  TORCH_CHECK(index >= 0 && index <= std::numeric_limits<c10::DeviceIndex>::max(), "flagos:", index,
              " does not exist: a device index is a small number from 0 on");
  return static_cast<c10::DeviceIndex>(index);
}

}  // namespace torch_fl
