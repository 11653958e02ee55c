// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>

#include <cstring>
#include <mutex>
#include <vector>

namespace torch_fl {
namespace {

constexpr int64_t kStateBytes = 16;

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;  // SplitMix64's increment

// SplitMix64's finaliser (Steele, Lea, Flood 2014): neighbouring positions give unrelated seeds.
uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

}  // namespace

Generator::Generator(c10::DeviceIndex index)
    : c10::GeneratorImpl({kDevice, index}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

PhiloxPosition Generator::reserve(uint64_t draws) {
  std::lock_guard<std::mutex> lock(mutex_);
  const PhiloxPosition here{seed_, offset_};
  offset_ += (std::max<uint64_t>(draws, 1) + 3) / 4 * 4;
  return here;
}

void Generator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t Generator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void Generator::set_offset(uint64_t offset) {
  TORCH_CHECK(offset % 4 == 0, "flagos: a Philox offset must be a multiple of 4, got ", offset);
  offset_ = offset;
}

void Generator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == kStateBytes, "flagos: a generator's state has ", kStateBytes, " bytes (seed, offset), got ",
              state.numel());
  uint64_t words[2];
  std::memcpy(words, state.data(), kStateBytes);
  seed_ = words[0];
  set_offset(words[1]);
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  auto state = at::detail::empty_cpu({kStateBytes}, at::kByte);
  const uint64_t words[2] = {seed_, offset_};
  std::memcpy(state.mutable_data_ptr(), words, kStateBytes);
  return state.getIntrusivePtr();
}

Generator* Generator::clone_impl() const {
  auto* copy = new Generator(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& default_generator(c10::DeviceIndex index) {
  static auto* generators = [] {  // outlives every tensor
    auto* made = new std::vector<at::Generator>();
    for (int i = 0; i < device_count(); ++i)
      made->push_back(at::make_generator<Generator>(static_cast<c10::DeviceIndex>(i)));
    return made;
  }();
  if (index < 0) index = current_device();
  check_index(index);
  return (*generators)[static_cast<size_t>(index)];
}

at::Generator new_generator(c10::DeviceIndex index) {
  if (index < 0) index = current_device();
  check_index(index);
  return at::make_generator<Generator>(index);
}

at::Generator cpu_generator(const std::optional<at::Generator>& generator, c10::DeviceIndex index, uint64_t draws) {
  const at::Generator& source = generator && generator->defined() ? *generator : default_generator(index);
  TORCH_CHECK(source.device().type() == kDevice, "Expected a '", c10::Device(kDevice, index),
              "' device type for generator but found '", source.device().type(), "'");
  const auto here = static_cast<Generator*>(source.unsafeGetGeneratorImpl())->reserve(draws);
  uint64_t word = mixed(here.seed ^ mixed(here.offset + kGolden));
  auto made = at::make_generator<at::CPUGeneratorImpl>(word);
  // The engine's own seeding keeps 32 bits, of which two equal ones turn up within 2^16 draws: all of its state is filled.
  at::mt19937_data_pod state{};
  state.seed_ = word;
  state.left_ = 1;  // the next number makes the next 624
  state.seeded_ = true;
  for (size_t i = 0; i < state.state_.size(); i += 2) {
    const uint64_t bits = mixed(word += kGolden);
    state.state_[i] = static_cast<uint32_t>(bits);
    state.state_[i + 1] = static_cast<uint32_t>(bits >> 32);
  }
  static thread_local at::mt19937 engine;  // its constructor seeds, which takes as long as the loop above
  engine.set_data(state);
  made.get<at::CPUGeneratorImpl>()->set_engine(engine);
  return made;
}

}  // namespace torch_fl
