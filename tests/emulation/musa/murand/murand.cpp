// SPDX-License-Identifier: Apache-2.0
// The emulated muRAND: Philox numbers made by the CPU, in stream order.
//
// A generator is a place in one sequence of 32-bit numbers. A float takes one number, a double two, a pair of normal floats two
// (Box-Muller), a pair of normal doubles four; so calls that follow each other give what one call would.
#include <murand.h>

#include <cmath>
#include <mutex>
#include <numbers>

#include "emulation/device.h"
#include "emulation/quirks.h"
#include "philox.h"

struct murandGenerator_st {
  explicit murandGenerator_st(int current) : device(current) {}

  const int device;
  std::mutex mutex;
  // All guarded by mutex.
  musaStream_t stream = nullptr;
  uint64_t seed = 0;
  uint64_t position = 0;
};

namespace murand {
namespace {

// In (0, 1]: the middle of each step of 2^-32 (2^-53), of which the last ones round to 1.
float uniform(uint32_t number) { return static_cast<float>(number * 0x1p-32 + 0x1p-33); }
double uniform(uint64_t number) { return static_cast<double>(number >> 11) * 0x1p-53 + 0x1p-54; }

struct Pair {
  double first, second;
};
Pair box_muller(double radius, double angle) {
  const double length = std::sqrt(-2 * std::log(radius));
  return {length * std::sin(2 * std::numbers::pi * angle), length * std::cos(2 * std::numbers::pi * angle)};
}

// Runs body(sequence, position, numbers) in stream order; `each` is how many 32-bit numbers one value takes.
template <typename T, typename Body>
murandStatus_t generate(murandGenerator_t generator, const char* kernel, T* numbers, size_t count, unsigned each, Body body) {
  if (!generator) return MURAND_STATUS_NOT_INITIALIZED;
  if (count == 0) return MURAND_STATUS_SUCCESS;
  const std::lock_guard lock(generator->mutex);
  // As a kernel of the card would: only the current device's memory is there, and the stream must be of the generator's device.
  static const bool own_device_only = emulation::quirk("pointer_device");
  const auto block = emulation::find_block(numbers);
  if (!block || block->device != generator->device || emulation::stream_device(generator->stream) != generator->device ||
      (own_device_only && emulation::current_device() != generator->device))
    return MURAND_STATUS_LAUNCH_FAILURE;
  const size_t offset = reinterpret_cast<char*>(numbers) - static_cast<char*>(block->base);
  if (count > (block->bytes - offset) / sizeof(T)) return MURAND_STATUS_LAUNCH_FAILURE;
  T* const target = emulation::cpu_address(numbers);
  const auto work = [target, count, body, seed = generator->seed, position = generator->position] {
    Sequence sequence(seed);
    body(sequence, position, target, count);
  };
  if (!emulation::launch(generator->stream, kernel, work)) return MURAND_STATUS_LAUNCH_FAILURE;
  generator->position += count * each;
  return MURAND_STATUS_SUCCESS;
}

bool even_only() {
  static const bool on = emulation::quirk("normal_even");
  return on;
}

}  // namespace
}  // namespace murand

using namespace murand;

extern "C" {

murandStatus_t murandGetVersion(int* version) {
  if (!version) return MURAND_STATUS_OUT_OF_RANGE;
  return musaRuntimeGetVersion(version) == musaSuccess ? MURAND_STATUS_SUCCESS : MURAND_STATUS_INTERNAL_ERROR;
}

murandStatus_t murandCreateGenerator(murandGenerator_t* generator, murandRngType_t type) {
  if (!generator) return MURAND_STATUS_OUT_OF_RANGE;
  if (type != MURAND_RNG_PSEUDO_PHILOX4_32_10)
    return type >= MURAND_RNG_PSEUDO_DEFAULT && type < MURAND_RNG_PSEUDO_PHILOX4_32_10 ? MURAND_STATUS_NOT_IMPLEMENTED
                                                                                       : MURAND_STATUS_TYPE_ERROR;
  int device = 0;
  if (musaGetDevice(&device) != musaSuccess) return MURAND_STATUS_INITIALIZATION_FAILED;
  *generator = new murandGenerator_st(device);
  return MURAND_STATUS_SUCCESS;
}

murandStatus_t murandDestroyGenerator(murandGenerator_t generator) {
  if (!generator) return MURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return MURAND_STATUS_SUCCESS;
}

murandStatus_t murandSetStream(murandGenerator_t generator, musaStream_t stream) {
  if (!generator) return MURAND_STATUS_NOT_INITIALIZED;
  const std::lock_guard lock(generator->mutex);
  generator->stream = stream;
  return MURAND_STATUS_SUCCESS;
}

murandStatus_t murandSetPseudoRandomGeneratorSeed(murandGenerator_t generator, unsigned long long seed) {
  if (!generator) return MURAND_STATUS_NOT_INITIALIZED;
  const std::lock_guard lock(generator->mutex);
  generator->seed = seed;
  generator->position = 0;
  return MURAND_STATUS_SUCCESS;
}

murandStatus_t murandSetGeneratorOffset(murandGenerator_t generator, unsigned long long offset) {
  if (!generator) return MURAND_STATUS_NOT_INITIALIZED;
  const std::lock_guard lock(generator->mutex);
  generator->position = offset;
  return MURAND_STATUS_SUCCESS;
}

murandStatus_t murandGenerate(murandGenerator_t generator, unsigned int* numbers, size_t count) {
  return generate(generator, "musa::rand::philox_uint32", numbers, count, 1,
                  [](Sequence& sequence, uint64_t position, unsigned int* out, size_t length) {
                    for (size_t i = 0; i < length; ++i) out[i] = sequence.at(position + i);
                  });
}

// A quirk of Philox on the S5000; without it the numbers are pairs of the sequence.
murandStatus_t murandGenerateLongLong(murandGenerator_t generator, unsigned long long* numbers, size_t count) {
  if (!generator) return MURAND_STATUS_NOT_INITIALIZED;
  static const bool refused = emulation::quirk("random_64_bit");
  if (refused) return MURAND_STATUS_TYPE_ERROR;
  return generate(generator, "musa::rand::philox_uint64", numbers, count, 2,
                  [](Sequence& sequence, uint64_t position, unsigned long long* out, size_t length) {
                    for (size_t i = 0; i < length; ++i) out[i] = sequence.pair_at(position + 2 * i);
                  });
}

murandStatus_t murandGenerateUniform(murandGenerator_t generator, float* numbers, size_t count) {
  return generate(generator, "musa::rand::philox_uniform", numbers, count, 1,
                  [](Sequence& sequence, uint64_t position, float* out, size_t length) {
                    for (size_t i = 0; i < length; ++i) out[i] = uniform(sequence.at(position + i));
                  });
}

murandStatus_t murandGenerateUniformDouble(murandGenerator_t generator, double* numbers, size_t count) {
  return generate(generator, "musa::rand::philox_uniform_double", numbers, count, 2,
                  [](Sequence& sequence, uint64_t position, double* out, size_t length) {
                    for (size_t i = 0; i < length; ++i) out[i] = uniform(sequence.pair_at(position + 2 * i));
                  });
}

murandStatus_t murandGenerateNormal(murandGenerator_t generator, float* numbers, size_t count, float mean, float stddev) {
  if (generator && even_only() && count % 2) return MURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, "musa::rand::philox_normal", numbers, count, 1,
                  [mean, stddev](Sequence& sequence, uint64_t position, float* out, size_t length) {
                    for (size_t i = 0; i < length; i += 2) {
                      const double radius = sequence.at(position + i) * 0x1p-32 + 0x1p-33;
                      const auto [first, second] = box_muller(radius, sequence.at(position + i + 1) * 0x1p-32 + 0x1p-33);
                      out[i] = static_cast<float>(first * stddev + mean);
                      if (i + 1 < length) out[i + 1] = static_cast<float>(second * stddev + mean);
                    }
                  });
}

murandStatus_t murandGenerateNormalDouble(murandGenerator_t generator, double* numbers, size_t count, double mean,
                                          double stddev) {
  if (generator && even_only() && count % 2) return MURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, "musa::rand::philox_normal_double", numbers, count, 2,
                  [mean, stddev](Sequence& sequence, uint64_t position, double* out, size_t length) {
                    for (size_t i = 0; i < length; i += 2) {
                      const double radius = uniform(sequence.pair_at(position + 2 * i));
                      const auto [first, second] = box_muller(radius, uniform(sequence.pair_at(position + 2 * i + 2)));
                      out[i] = first * stddev + mean;
                      if (i + 1 < length) out[i + 1] = second * stddev + mean;
                    }
                  });
}
}
