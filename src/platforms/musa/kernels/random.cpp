// SPDX-License-Identifier: Apache-2.0
// Draws by muRAND. PyTorch's own templates check the arguments and say which range is meant; one seed is reserved for each
// operation from the device's random stream, so that draws of every kind stay in call order.
//
// A tensor is filled in its logical order: the same seed gives the same numbers whatever its strides are.
#include <ATen/native/DistributionTemplates.h>
#include <ATen/ops/empty.h>
#include <flagos_runtime.h>
#include <murand.h>

#include <limits>
#include <map>
#include <mutex>

#include "descriptor.h"
#include "kernels.h"
#include "pointwise.h"

namespace torch_fl::mudnn {
namespace {

using at::Scalar;
using at::ScalarType;
using at::Tensor;
using Chosen = std::optional<at::Generator>;

void check_murand(murandStatus_t status, const char* call) {
  TORCH_CHECK(status == MURAND_STATUS_SUCCESS, "flagos: muRAND's ", call, " failed with status ", static_cast<int>(status),
              "; FLAGOS_OP_<operator>=none sends the operator to the CPU");
}

// One for each device and stream, kept until the process ends. The caller holds `mutex` from the seed to the draw.
class Generators {
 public:
  std::mutex mutex;

  murandGenerator_t seeded(c10::DeviceIndex device, musaStream_t stream, uint64_t seed) {
    auto& generator = made_[{device, stream}];
    if (!generator) check_murand(murandCreateGenerator(&generator, MURAND_RNG_PSEUDO_PHILOX4_32_10), "murandCreateGenerator");
    check_murand(murandSetStream(generator, stream), "murandSetStream");
    check_murand(murandSetPseudoRandomGeneratorSeed(generator, seed), "murandSetPseudoRandomGeneratorSeed");
    check_murand(murandSetGeneratorOffset(generator, 0), "murandSetGeneratorOffset");
    return generator;
  }

 private:
  std::map<std::pair<c10::DeviceIndex, musaStream_t>, murandGenerator_t> made_;
};

Generators& generators() {
  static auto* all = new Generators();
  return *all;
}

// Draws into a new tensor of `count` numbers; `draw` gets the generator.
template <class Draw>
void draw(const Chosen& chosen, Session& session, uint64_t numbers, Draw&& function) {
  const uint64_t seed = reserve_seed(chosen, session.device().index(), numbers);
  const std::lock_guard lock(generators().mutex);
  function(generators().seeded(session.device().index(), session.stream(), seed));
}

bool is_double(const Tensor& tensor) { return tensor.scalar_type() == at::kDouble; }

Tensor numbers(const Tensor& like, int64_t count) {
  return at::empty({count}, like.options().dtype(is_double(like) ? at::kDouble : at::kFloat));
}

// In (0, 1].
Tensor uniform_numbers(const Tensor& like, Session& session, const Chosen& chosen) {
  const int64_t count = like.numel();
  Tensor made = numbers(like, count);
  draw(chosen, session, count * (is_double(like) ? 2 : 1), [&](murandGenerator_t generator) {
    if (is_double(like)) {
      check_murand(murandGenerateUniformDouble(generator, made.mutable_data_ptr<double>(), count), "murandGenerateUniformDouble");
    } else {
      check_murand(murandGenerateUniform(generator, made.mutable_data_ptr<float>(), count), "murandGenerateUniform");
    }
  });
  return made;
}

// The type is one that both libraries have; else the call is declined before a seed is taken.
void refuse(const Tensor& self, bool floating) {
  // A generator of the device brings calls for other devices' tensors here.
  TORCH_CHECK(self.device().type() == c10::DeviceType::PrivateUse1, "Expected a '", self.device().type(),
              "' device type for generator but found '", c10::DeviceTypeName(c10::DeviceType::PrivateUse1, true), "'");
  type_of(self.scalar_type());
  if (floating && !at::isFloatingType(self.scalar_type())) throw Decline("a distribution over real numbers");
}

template <class>
struct Uniform {
  void operator()(at::TensorIteratorBase& iterator, double from, double to, const Chosen& chosen) {
    const Tensor& self = iterator.output();
    Session session(self);
    Tensor made = uniform_numbers(self, session, chosen);
    if (to - from != 1) made.mul_(to - from);
    if (from != 0) made.add_(from);
    // The upper end belongs to muRAND's interval, and rounding may reach it too: in PyTorch's it is the lower one.
    if (made.scalar_type() != self.scalar_type()) made = as_dtype(session, made, self.scalar_type());
    if (to > from) made.masked_fill_(made.ge(to), from);
    self.copy_(made.view(self.sizes()));
  }
};

template <class>
struct Normal {
  void operator()(const Tensor& self, double mean, double deviation, const Chosen& chosen) {
    const int64_t count = self.numel(), even = count + count % 2;  // muRAND refuses odd numbers
    Session session(self);
    Tensor made = numbers(self, even);
    draw(chosen, session, even * (is_double(self) ? 2 : 1), [&](murandGenerator_t generator) {
      if (is_double(self)) {
        check_murand(murandGenerateNormalDouble(generator, made.mutable_data_ptr<double>(), even, mean, deviation),
              "murandGenerateNormalDouble");
      } else {
        check_murand(murandGenerateNormal(generator, made.mutable_data_ptr<float>(), even, static_cast<float>(mean),
                                   static_cast<float>(deviation)),
              "murandGenerateNormal");
      }
    });
    self.copy_(made.narrow(0, 0, count).view(self.sizes()));
  }
};

template <class>
struct Bernoulli {
  void operator()(Tensor& self, double p, const Chosen& chosen) {
    Session session(self);
    self.copy_(uniform_numbers(self, session, chosen).le(p).view(self.sizes()));
  }
};

// Bits: 64 for each number where `wide`, which muRAND gives only as two of 32, else 32 in [0, 2^32). As int64.
Tensor random_bits(const Tensor& like, Session& session, bool wide, const Chosen& chosen) {
  const int64_t count = like.numel();
  Tensor bits = at::empty({count}, like.options().dtype(wide ? at::kLong : at::kInt));
  draw(chosen, session, count * (wide ? 2 : 1), [&](murandGenerator_t generator) {
    check_murand(murandGenerate(generator, static_cast<unsigned*>(bits.mutable_data_ptr()), count * (wide ? 2 : 1)),
          "murandGenerate");
  });
  return wide ? bits : as_dtype(session, bits, at::kLong).remainder_(int64_t{1} << 32);
}

// base + (bits mod range) for a range of up to 2^64 - 1, in wrapping arithmetic of int64.
Tensor in_range(Tensor bits, uint64_t range, int64_t base) {
  constexpr uint64_t half = uint64_t{1} << 63;
  if (range < half) return bits.remainder_(static_cast<int64_t>(range)).add_(base);
  // The bits are a number s + 2^63, s signed, and at most one range too large.
  const auto low = static_cast<int64_t>(static_cast<uint64_t>(base) + half);
  const Tensor beyond = bits.ge(static_cast<int64_t>(range - half));
  bits.add_(low);
  return bits.sub_(beyond.to(at::kLong).mul_(static_cast<int64_t>(range)));
}

template <class>
struct FromTo {
  void operator()(at::TensorIteratorBase& iterator, uint64_t range, int64_t base, const Chosen& chosen) {
    const Tensor& self = iterator.output();
    Session session(self);
    self.copy_(in_range(random_bits(self, session, range > uint64_t{1} << 32, chosen), range, base).view(self.sizes()));
  }
  void operator()(at::TensorIteratorBase& iterator, const Chosen& chosen) {  // the whole of int64
    const Tensor& self = iterator.output();
    Session session(self);
    self.copy_(random_bits(self, session, true, chosen).view(self.sizes()));
  }
};

// Without bounds: from 0 to the largest integer that the type holds exactly, itself included.
uint64_t default_range(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool: return 2;
    case ScalarType::Byte: return uint64_t{1} << 8;
    case ScalarType::Char: return uint64_t{1} << 7;
    case ScalarType::Short: return uint64_t{1} << 15;
    case ScalarType::Int: return uint64_t{1} << 31;
    case ScalarType::Long: return uint64_t{1} << 63;
    case ScalarType::Half: return (uint64_t{1} << std::numeric_limits<at::Half>::digits) + 1;
    case ScalarType::BFloat16: return (uint64_t{1} << std::numeric_limits<at::BFloat16>::digits) + 1;
    case ScalarType::Float: return (uint64_t{1} << std::numeric_limits<float>::digits) + 1;
    case ScalarType::Double: return (uint64_t{1} << std::numeric_limits<double>::digits) + 1;
    default: throw Decline(std::string("random integers of type ") + c10::toString(dtype));
  }
}

template <class>
struct Random {
  void operator()(at::TensorIteratorBase& iterator, const Chosen& chosen) {
    FromTo<void>()(iterator, default_range(iterator.dtype(0)), 0, chosen);
  }
};

namespace templates = at::native::templates;

Tensor& uniform_(Tensor& self, double from, double to, Chosen generator) {
  refuse(self, true);
  return templates::uniform_impl_<Uniform, void>(self, from, to, generator);
}
Tensor& normal_(Tensor& self, double mean, double deviation, Chosen generator) {
  refuse(self, true);
  return templates::normal_impl_<Normal, void>(self, mean, deviation, generator);
}
Tensor& bernoulli_(Tensor& self, double p, Chosen generator) {
  refuse(self, false);
  return templates::bernoulli_impl_<Bernoulli, void>(self, p, generator);
}
Tensor& random_(Tensor& self, Chosen generator) {
  refuse(self, false);
  return templates::random_impl<Random, void>(self, generator);
}
Tensor& random_from_(Tensor& self, int64_t from, std::optional<int64_t> to, Chosen generator) {
  refuse(self, false);
  return templates::random_from_to_impl<FromTo, void>(self, from, to, generator);
}
Tensor& random_to_(Tensor& self, int64_t to, Chosen generator) { return random_from_(self, 0, to, std::move(generator)); }

}  // namespace

void add_random(KernelTable& table) {
  table.add<"uniform_", &uniform_>(kMayDecline);
  table.add<"normal_", &normal_>(kMayDecline);
  table.add<"bernoulli_.float", &bernoulli_>(kMayDecline);
  table.add<"random_", &random_>(kMayDecline);
  table.add<"random_.from", &random_from_>(kMayDecline);
  table.add<"random_.to", &random_to_>(kMayDecline);
}

}  // namespace torch_fl::mudnn
