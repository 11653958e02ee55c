// SPDX-License-Identifier: Apache-2.0
// target_generator.h: generators of a device that PyTorch drives itself are PyTorch's, behind one of our device type.
#pragma once

#include <ATen/core/Generator.h>
#include <flagos_runtime.h>

namespace torch_fl {

at::Generator target_default_generator(c10::DeviceIndex index);
void seed_target_generators();  // once, when the devices have been started: with the seeds that were set before
at::Generator target_new_generator(c10::DeviceIndex index);

// reserve_draws of flagos_runtime.h for such a generator.
PhiloxPosition reserve_target_draws(const at::Generator& flagos, uint64_t draws);

}  // namespace torch_fl
