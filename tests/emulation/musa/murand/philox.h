// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace murand {

using Four = std::array<uint32_t, 4>;

// The four numbers of one counter, for a key of two words.
constexpr Four philox(Four counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;  // the golden ratio
    key[1] += 0xBB67AE85;  // the square root of 3, less one
  }
  return counter;
}

// Known answers of the authors' Random123 library (kat_vectors, philox 4x32 with 10 rounds).
static_assert(philox({0, 0, 0, 0}, {0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

// The sequence of a seed: number `position` is a lane of the counter position / 4, so any part can be made on its own.
class Sequence {
 public:
  explicit Sequence(uint64_t seed) : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}

  uint32_t at(uint64_t position) {
    const uint64_t block = position / 4;
    if (block != block_ || fresh_) {
      four_ = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}, key_);
      block_ = block;
      fresh_ = false;
    }
    return four_[position % 4];
  }
  // Two neighbours as one number.
  uint64_t pair_at(uint64_t position) { return at(position) | uint64_t{at(position + 1)} << 32; }

 private:
  std::array<uint32_t, 2> key_;
  Four four_{};
  uint64_t block_ = 0;
  bool fresh_ = true;
};

}  // namespace murand
