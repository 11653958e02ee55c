// SPDX-License-Identifier: Apache-2.0
#include "elementwise.h"

#include <cstring>

namespace musa::dnn::emulation {

void copy(const View& out, const View& in) {
  if (out.type == in.type) {
    // Bytes, not numbers: NaN payloads and any pattern of a Bool survive.
    Loop<2>({out, in}).each([&](const std::array<char*, 2>& at, const std::array<int64_t, 2>& strides, int64_t count) {
      const auto move = [&](auto tag) {
        using Word = decltype(tag);
        Word* to = reinterpret_cast<Word*>(at[0]);
        const Word* from = reinterpret_cast<const Word*>(at[1]);
        for (int64_t i = 0; i < count; ++i) to[i * strides[0]] = from[i * strides[1]];
      };
      if (strides[0] == 1 && strides[1] == 1) {
        std::memmove(at[0], at[1], count * out.element_bytes());
        return;
      }
      switch (out.element_bytes()) {
        case 8: return move(uint64_t{});
        case 4: return move(uint32_t{});
        case 2: return move(uint16_t{});
        default: return move(uint8_t{});
      }
    });
    return;
  }
  if (is_float(in.type)) {
    map<double, double>(out, in, [](double value) { return value; });
  } else if (in.type == Tensor::Type::UINT64) {
    map<uint64_t, uint64_t>(out, in, [](uint64_t value) { return value; });
  } else {
    map<int64_t, int64_t>(out, in, [](int64_t value) { return value; });
  }
}

}  // namespace musa::dnn::emulation
