// SPDX-License-Identifier: Apache-2.0
// flagos_runtime.h: what the core gives to kernel libraries, beside PyTorch's own interfaces.
//
// Memory comes from PyTorch's allocator interface (`c10::GetAllocator(c10::DeviceType::PrivateUse1)`), on the current stream, and
// the current device from `c10::DeviceGuard`. The two things that PyTorch has no interface for are here.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <optional>

#include "flagos_platform.h"

namespace torch_fl {

// The vendor's handle of this thread's current stream on the device; null is the default stream.
__attribute__((visibility("default"))) flagos_stream current_native_stream(c10::DeviceIndex device);

// A place in a device's one random stream: Philox key and counter (in numbers, a multiple of 4).
struct PhiloxPosition {
  uint64_t seed;
  uint64_t offset;
  friend bool operator==(const PhiloxPosition& a, const PhiloxPosition& b) { return a.seed == b.seed && a.offset == b.offset; }
};

// Takes `draws` numbers (rounded up to a multiple of 4) out of the stream of `generator`, or without one of the device's
// default generator. Thread-safe. Throws for a generator of another device type.
__attribute__((visibility("default"))) PhiloxPosition reserve_draws(const std::optional<at::Generator>& generator,
                                                                    c10::DeviceIndex device, uint64_t draws);

// One 64-bit seed for a library generator that starts at offset 0: a mix of the position that `reserve_draws` gives.
__attribute__((visibility("default"))) uint64_t reserve_seed(const std::optional<at::Generator>& generator,
                                                             c10::DeviceIndex device, uint64_t draws);

}  // namespace torch_fl
