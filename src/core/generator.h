// SPDX-License-Identifier: Apache-2.0
// generator.h: the random stream of a device: a Philox seed and offset, 16 bytes. Every draw, native or through a CPU
// kernel, reserves its part of the one stream, so that a seed gives the same bits whatever kernels serve the draws.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/stack.h>
#include <flagos_runtime.h>

#include <memory>
#include <mutex>

#include "device.h"
#include "macros.h"
#include "operator_plan.h"

namespace torch_fl {

class Generator final : public c10::GeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex index);

  // Takes `draws` numbers (rounded up to whole Philox blocks of four) out of the stream: where they begin. Thread-safe.
  PhiloxPosition reserve(uint64_t draws);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return position().seed; }
  uint64_t seed() override;  // from the system's entropy
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override { return position().offset; }
  void set_state(const c10::TensorImpl& state) override;  // uint8[16] on the CPU: seed, offset (little endian)
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  // A generator of the same stream: what either draws, the other does not.
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) override;

 private:
  struct Stream {
    std::mutex mutex;
    PhiloxPosition position{c10::default_rng_seed_val, 0};
    PhiloxPosition take(uint64_t draws);
    void move(PhiloxPosition from, PhiloxPosition to);  // unless it stands elsewhere
  };
  Generator* clone_impl() const override;
  PhiloxPosition position() const;
  void move_to(PhiloxPosition position);

  std::shared_ptr<Stream> stream_ = std::make_shared<Stream>();
};

TORCH_FL_API const at::Generator& default_generator(c10::DeviceIndex index);
at::Generator new_generator(c10::DeviceIndex index);  // negative: the current device

// A CPU generator for one call, seeded from the device stream that the argument `generator` (or, without one, the device's
// default) holds. `draws` is how much of that stream the call takes.
at::Generator cpu_generator(const c10::IValue& generator, c10::DeviceIndex index, uint64_t draws);

// How many numbers the call on the stack may draw: one for each element of its largest tensor, or of the size it names.
uint64_t draws_of(const OperatorPlan& plan, const torch::jit::Stack& stack);

}  // namespace torch_fl
