// SPDX-License-Identifier: Apache-2.0
// generator.h: the random stream of a device: a Philox seed and offset, 16 bytes. Every draw, native or through a CPU
// kernel, reserves its part of the one stream, so that a seed gives the same bits whatever kernels serve the draws.
#pragma once

#include <ATen/core/Generator.h>

#include "device.h"
#include "macros.h"

namespace torch_fl {

struct PhiloxPosition {
  uint64_t seed;
  uint64_t offset;
};

class Generator final : public c10::GeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex index);

  // Takes `draws` numbers (rounded up to whole Philox blocks of four) out of the stream: where they begin. Thread-safe.
  PhiloxPosition reserve(uint64_t draws);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;  // from the system's entropy
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override { return offset_; }
  void set_state(const c10::TensorImpl& state) override;  // uint8[16] on the CPU: seed, offset (little endian)
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

 private:
  Generator* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

TORCH_FL_API const at::Generator& default_generator(c10::DeviceIndex index);
at::Generator new_generator(c10::DeviceIndex index);  // negative: the current device

// A CPU generator for one operator, seeded from the device stream that `generator` (or the device's default) holds.
// `draws` is how many numbers the operator may consume.
at::Generator cpu_generator(const std::optional<at::Generator>& generator, c10::DeviceIndex index, uint64_t draws);

}  // namespace torch_fl
