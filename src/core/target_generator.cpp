// SPDX-License-Identifier: Apache-2.0
#include "target_generator.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "device.h"
#include "generator.h"
#include "stepwise_draw.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

// The target's generator for one call, locked: its own mutex, which the kernels of the target take, too.
class Locked {
 public:
  explicit Locked(const at::Generator& generator) : impl_(generator.unsafeGetGeneratorImpl()), lock_(impl_->mutex_) {}
  c10::GeneratorImpl* operator->() const { return impl_; }

  PhiloxPosition position() const { return {impl_->current_seed(), impl_->get_offset()}; }
  void move_to(PhiloxPosition position) const {
    impl_->set_current_seed(position.seed);
    impl_->set_offset(position.offset);
  }

 private:
  c10::GeneratorImpl* const impl_;
  const std::lock_guard<std::mutex> lock_;
};

// A CPU that plays the target has a state, but no place in a Philox stream.
bool has_position(const at::Generator& target) { return !target.device().is_cpu(); }

// Seed and offset are the last words of a target's state.
PhiloxPosition position_in(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  uint64_t words[2] = {0, 0};
  const auto bytes = static_cast<size_t>(state.numel());
  if (bytes >= sizeof(words)) std::memcpy(words, static_cast<const char*>(state.data()) + bytes - sizeof(words), sizeof(words));
  return {words[0], words[1]};
}

class TargetGenerator final : public c10::GeneratorImpl {
 public:
  explicit TargetGenerator(at::Generator target)
      : c10::GeneratorImpl(as_flagos(target.device()), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        found_(true),
        target_(std::move(target)) {}
  // A device's default one. Asking PyTorch for its own would start the driver, so a seed that comes before the first use of a
  // device waits here.
  explicit TargetGenerator(c10::DeviceIndex index)
      : c10::GeneratorImpl(c10::Device(kDevice, index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

  const at::Generator& target() const {
    if (!found_.load(std::memory_order_acquire)) find();
    return target_;
  }

  void set_current_seed(uint64_t seed) override {
    if (!waits([&] { waiting_ = seed; })) locked()->set_current_seed(seed);
  }
  uint64_t current_seed() const override {
    uint64_t seed = 0;
    return waits([&] { seed = waiting_.value_or(c10::default_rng_seed_val); }) ? seed : locked()->current_seed();
  }
  uint64_t seed() override { return locked()->seed(); }
  void set_offset(uint64_t offset) override { locked()->set_offset(offset); }
  uint64_t get_offset() const override { return locked()->get_offset(); }
  void set_state(const c10::TensorImpl& state) override {
    StepwiseDraw* draw = StepwiseDraw::current();
    if (!draw || !draw->write(stream(), position_in(state))) locked()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    const Locked generator = locked();
    auto state = generator->get_state();
    StepwiseDraw* draw = StepwiseDraw::current();
    if (draw && has_position(target_)) {
      const PhiloxPosition here = generator.position();
      generator->set_offset(here.offset + StepwiseDraw::kSetAside);
      draw->was_read(stream(), here, [target = target_](PhiloxPosition from, PhiloxPosition to) {
        const Locked generator(target);
        if (generator.position() == from) generator.move_to(to);
      });
    }
    return state;
  }
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override {
    return c10::make_intrusive<TargetGenerator>(at::Generator(locked()->graphsafe_get_state()));
  }
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) override {
    const auto* generator = dynamic_cast<const TargetGenerator*>(other.get());
    TORCH_CHECK(generator, "Expected a '", kDevice, "' generator but found '", other->device().type(), "'");
    locked()->graphsafe_set_state(generator->target().getIntrusivePtr());
  }

 private:
  Locked locked() const { return Locked(target()); }
  const void* stream() const { return target().unsafeGetGeneratorImpl(); }
  void find() const {
    const std::lock_guard<std::mutex> lock(finding_);
    if (found_) return;
    target_ = torch_device()->default_generator(device().index());
    if (waiting_) Locked(target_)->set_current_seed(*waiting_);
    found_ = true;
  }
  // Does `what` if PyTorch's generator is not needed yet.
  template <class What>
  bool waits(What what) const {
    if (found_.load(std::memory_order_acquire) || is_initialized()) return false;
    const std::lock_guard<std::mutex> lock(finding_);
    if (!found_) what();
    return !found_;
  }

  TargetGenerator* clone_impl() const override { return new TargetGenerator(at::Generator(locked()->clone())); }

  mutable std::mutex finding_;
  mutable std::atomic<bool> found_{false};
  mutable at::Generator target_;           // once found_
  mutable std::optional<uint64_t> waiting_;  // a seed, until then
};

}  // namespace

at::Generator target_default_generator(c10::DeviceIndex index) { return at::make_generator<TargetGenerator>(index); }

void seed_target_generators() {
  for (int i = 0; i < device_count(); ++i)
    static_cast<TargetGenerator*>(default_generator(static_cast<c10::DeviceIndex>(i)).unsafeGetGeneratorImpl())->target();
}

at::Generator target_new_generator(c10::DeviceIndex index) {
  return at::make_generator<TargetGenerator>(torch_device()->new_generator(index));
}

at::Generator target_generator(const at::Generator& flagos) {
  if (!flagos.defined()) return flagos;
  const auto* generator = dynamic_cast<const TargetGenerator*>(flagos.unsafeGetGeneratorImpl());
  TORCH_CHECK(generator, "Expected a '", kDevice, "' device type for generator but found '", flagos.device().type(), "'");
  return generator->target();
}

PhiloxPosition reserve_target_draws(const at::Generator& flagos, uint64_t draws) {
  const at::Generator target = target_generator(flagos);
  const Locked generator(target);
  if (!has_position(target))  // a number of its stream stands for a seed
    return {static_cast<at::CPUGeneratorImpl*>(target.unsafeGetGeneratorImpl())->random64(), 0};
  const PhiloxPosition here = generator.position();
  generator->set_offset(here.offset + (std::max<uint64_t>(draws, 1) + 3) / 4 * 4);
  return here;
}

}  // namespace torch_fl
