// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Utils.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstring>
#include <memory>
#include <vector>

namespace emulated_fork {
namespace {

struct Place {
  uint64_t seed = c10::default_rng_seed_val, offset = 0;
};

void check_offset(uint64_t offset) { TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4"); }

class Generator final : public c10::GeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex device)
      : c10::GeneratorImpl({c10::kCUDA, device}, c10::DispatchKeySet(c10::DispatchKey::CUDA)), place_(std::make_shared<Place>()) {}

  void set_current_seed(uint64_t seed) override { *place_ = {seed, 0}; }
  uint64_t current_seed() const override { return place_->seed; }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom(true));
    return place_->seed;
  }
  void set_offset(uint64_t offset) override {
    check_offset(offset);
    place_->offset = offset;
  }
  uint64_t get_offset() const override { return place_->offset; }

  void set_state(const c10::TensorImpl& state) override {
    at::detail::check_rng_state(state);
    TORCH_CHECK(state.numel() == sizeof(Place), "RNG state is wrong size");
    Place place;
    std::memcpy(&place, state.data(), sizeof place);
    check_offset(place.offset);
    *place_ = place;
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    auto state = at::detail::empty_cpu({sizeof(Place)}, at::kByte);
    std::memcpy(state.mutable_data_ptr(), place_.get(), sizeof(Place));
    return state.getIntrusivePtr();
  }
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override {
    auto other = c10::make_intrusive<Generator>(device().index());
    other->place_ = place_;
    return other;
  }
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) override {
    const auto* generator = dynamic_cast<const Generator*>(other.get());
    TORCH_CHECK(generator, "Provided state is not a CUDA generator");
    place_ = generator->place_;
  }

  // The seed of the draws that start here. Not the place itself: neighbouring places are to give unrelated numbers.
  uint64_t take(uint64_t draws) {
    const std::lock_guard lock(mutex_);
    const uint64_t word = mixed(place_->seed ^ mixed(place_->offset + 1));
    place_->offset += (std::max<uint64_t>(draws, 1) + 3) / 4 * 4;
    return word;
  }

 private:
  // SplitMix64's finaliser (Steele, Lea, Flood 2014).
  static uint64_t mixed(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
  }
  Generator* clone_impl() const override {
    auto* copy = new Generator(device().index());
    *copy->place_ = *place_;
    return copy;
  }

  std::shared_ptr<Place> place_;  // shared by those that graphsafe_get_state gives
};

c10::DeviceIndex checked(c10::DeviceIndex device) {
  if (device < 0) device = c10::cuda::current_device();
  TORCH_CHECK(device < c10::cuda::device_count(), "Invalid device index ", static_cast<int>(device), " of a CUDA generator");
  return device;
}

}  // namespace

const at::Generator& default_generator(c10::DeviceIndex device) {
  static const auto* generators = [] {  // outlives every tensor
    auto* made = new std::vector<at::Generator>();
    for (c10::DeviceIndex index = 0; index < c10::cuda::device_count(); ++index) made->push_back(at::make_generator<Generator>(index));
    return made;
  }();
  return (*generators)[checked(device)];
}

at::Generator new_generator(c10::DeviceIndex device) { return at::make_generator<Generator>(checked(device)); }

at::Generator cpu_generator(const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t draws) {
  const at::Generator source = generator && generator->defined() ? *generator : default_generator(device);
  TORCH_CHECK(source.device().is_cuda(), "Expected a 'cuda' device type for generator but found '", source.device().type(), "'");
  return at::make_generator<at::CPUGeneratorImpl>(static_cast<Generator*>(source.unsafeGetGeneratorImpl())->take(draws));
}

}  // namespace emulated_fork
