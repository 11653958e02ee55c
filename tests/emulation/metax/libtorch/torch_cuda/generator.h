// SPDX-License-Identifier: Apache-2.0
// generator.h: generators with CUDA's state: a seed and an offset, 8 bytes each.
#pragma once

#include <ATen/core/Generator.h>

namespace emulated_fork {

const at::Generator& default_generator(c10::DeviceIndex device);  // -1: the current one
at::Generator new_generator(c10::DeviceIndex device);

// A CPU generator that stands where `device` stands in its stream (an undefined one: the device's default), which moves on by
// `draws` numbers, rounded up to a multiple of 4.
at::Generator cpu_generator(const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t draws);

}  // namespace emulated_fork
