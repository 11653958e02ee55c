// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "stepwise_draw.h"
#include "target_generator.h"
#include "torch_device.h"

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

void check_offset(PhiloxPosition position) {
  TORCH_CHECK(position.offset % 4 == 0, "flagos: a Philox offset must be a multiple of 4, got ", position.offset);
}

}  // namespace

Generator::Generator(c10::DeviceIndex index)
    : c10::GeneratorImpl({kDevice, index}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

PhiloxPosition Generator::Stream::take(uint64_t draws) {
  std::lock_guard<std::mutex> lock(mutex);
  const PhiloxPosition here = position;
  position.offset += (std::max<uint64_t>(draws, 1) + 3) / 4 * 4;
  return here;
}

void Generator::Stream::move(PhiloxPosition from, PhiloxPosition to) {
  std::lock_guard<std::mutex> lock(mutex);
  if (position == from) position = to;
}

PhiloxPosition Generator::reserve(uint64_t draws) { return stream_->take(draws); }

PhiloxPosition Generator::position() const {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  return stream_->position;
}

void Generator::move_to(PhiloxPosition position) {
  check_offset(position);
  std::lock_guard<std::mutex> lock(stream_->mutex);
  stream_->position = position;
}

void Generator::set_current_seed(uint64_t seed) { move_to({seed, 0}); }

uint64_t Generator::seed() {
  const uint64_t seed = c10::detail::getNonDeterministicRandom();
  set_current_seed(seed);
  return seed;
}

void Generator::set_offset(uint64_t offset) { move_to({current_seed(), offset}); }

void Generator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == kStateBytes, "flagos: a generator's state has ", kStateBytes, " bytes (seed, offset), got ",
              state.numel());
  uint64_t words[2];
  std::memcpy(words, state.data(), kStateBytes);
  const PhiloxPosition to{words[0], words[1]};
  check_offset(to);
  StepwiseDraw* draw = StepwiseDraw::current();
  if (!draw || !draw->write(stream_.get(), to)) move_to(to);
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  auto state = at::detail::empty_cpu({kStateBytes}, at::kByte);
  StepwiseDraw* draw = StepwiseDraw::current();
  const auto here = draw ? stream_->take(StepwiseDraw::kSetAside) : position();
  if (draw) draw->was_read(stream_.get(), here, [stream = stream_](PhiloxPosition from, PhiloxPosition to) { stream->move(from, to); });
  const uint64_t words[2] = {here.seed, here.offset};
  std::memcpy(state.mutable_data_ptr(), words, kStateBytes);
  return state.getIntrusivePtr();
}

c10::intrusive_ptr<c10::GeneratorImpl> Generator::graphsafe_get_state() const {
  auto other = c10::make_intrusive<Generator>(device().index());
  other->stream_ = stream_;
  return other;
}

void Generator::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) {
  const auto* generator = dynamic_cast<const Generator*>(other.get());
  TORCH_CHECK(generator, "Expected a '", kDevice, "' generator but found '", other->device().type(), "'");
  stream_ = generator->stream_;
}

Generator* Generator::clone_impl() const {
  auto* copy = new Generator(device().index());
  copy->move_to(position());
  return copy;
}

const at::Generator& default_generator(c10::DeviceIndex index) {
  static auto* generators = [] {  // outlives every tensor
    auto* made = new std::vector<at::Generator>();
    for (int i = 0; i < device_count(); ++i) {
      const auto index = static_cast<c10::DeviceIndex>(i);
      made->push_back(torch_device() ? target_default_generator(index) : at::make_generator<Generator>(index));
    }
    return made;
  }();
  if (index < 0) index = current_device();
  check_index(index);
  return (*generators)[static_cast<size_t>(index)];
}

at::Generator new_generator(c10::DeviceIndex index) {
  if (index < 0) index = current_device();
  check_index(index);
  return torch_device() ? target_new_generator(index) : at::make_generator<Generator>(index);
}

uint64_t draws_of(const OperatorPlan& plan, const torch::jit::Stack& stack) {
  uint64_t most = 0;
  auto count = [&most](const at::Tensor& tensor) {
    if (tensor.defined()) most = std::max(most, static_cast<uint64_t>(tensor.numel()));
  };
  const c10::IValue* arguments = &stack[stack.size() - plan.arguments];
  for (const auto& argument : plan.interesting) {
    const c10::IValue& value = arguments[argument.position];
    if (value.isTensor()) count(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) count(tensor);
  }
  if (most > 0) return most;
  const auto first = std::find_if(arguments, arguments + plan.arguments, [](const c10::IValue& value) { return value.isIntList(); });
  if (first != arguments + plan.arguments)  // a factory's size
    return static_cast<uint64_t>(c10::multiply_integers(first->toIntVector()));
  if (plan.arguments > 0 && arguments->isInt()) return static_cast<uint64_t>(std::max<int64_t>(arguments->toInt(), 0));  // randperm's n
  return most;
}

PhiloxPosition reserve_draws(const std::optional<at::Generator>& generator, c10::DeviceIndex index, uint64_t draws) {
  const at::Generator source = generator && generator->defined() ? *generator : default_generator(index);
  TORCH_CHECK(source.device().type() == kDevice, "Expected a '", kDevice, "' device type for generator but found '",
              source.device().type(), "'");
  if (torch_device()) return reserve_target_draws(source, draws);
  return static_cast<Generator*>(source.unsafeGetGeneratorImpl())->reserve(draws);
}

uint64_t reserve_seed(const std::optional<at::Generator>& generator, c10::DeviceIndex index, uint64_t draws) {
  const auto here = reserve_draws(generator, index, draws);
  return mixed(here.seed ^ mixed(here.offset + kGolden));
}

at::Generator cpu_generator(const c10::IValue& generator, c10::DeviceIndex index, uint64_t draws) {
  uint64_t word = reserve_seed(generator.toOptional<at::Generator>(), index, draws);
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
