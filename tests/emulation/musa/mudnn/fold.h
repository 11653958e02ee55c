// SPDX-License-Identifier: Apache-2.0
// Folds: reductions with any state, over any dimensions of a strided tensor.
#pragma once

#include <array>
#include <vector>

#include "loop.h"
#include "strip.h"

namespace musa::dnn::emulation {

// A tensor split for a reduction: the kept part has a view on `out` of equal sizes, the reduced part is walked for each of
// its elements. The views have rank 1 with size 1 where a part has no dimension.
struct Split {
  View kept;     // of the input, at index 0 of the reduced dimensions
  View out;      // sizes of `kept`
  View second;   // sizes of `kept`: a second result, or no view
  View reduced;  // of the input, at index 0 of the kept dimensions
};

// Folder has `Number`, as which elements are loaded, State start(), and
//   add(State&, Number, index), with the place among the reduced elements, in ascending order;
//   finish(const State&, char* out, char* second), which writes the results of one kept element.
template <class Folder>
void fold(const Split& split, Folder& folder) {
  using Number = typename Folder::Number;
  using State = decltype(folder.start());
  const View& second = split.second ? split.second : split.out;
  std::vector<State> states(kStrip, folder.start());
  Number numbers[kStrip];
  const int64_t in_bytes = split.kept.element_bytes();
  // Order matters (index!) for the reduced part, so its dimensions stay as they are.
  const View& reduced = split.reduced;
  const int inner = reduced.rank - 1;
  const auto each_run = [&](auto&& run) {  // run(offset in elements, index) for each row of the reduced part
    std::array<int64_t, kMaxRank> at{};
    int64_t offset = 0, index = 0;
    if (reduced.elements() == 0) return;
    for (;;) {
      run(offset, index);
      index += reduced.sizes[inner];
      int d = inner - 1;
      for (; d >= 0; --d) {
        offset += reduced.strides[d];
        if (++at[d] < reduced.sizes[d]) break;
        offset -= reduced.strides[d] * reduced.sizes[d];
        at[d] = 0;
      }
      if (d < 0) return;
    }
  };
  Loop<3>({split.out, split.kept, second}).each([&](const std::array<char*, 3>& at, const std::array<int64_t, 3>& strides, int64_t count) {
    for (int64_t first = 0; first < count; first += kStrip) {
      const int64_t lanes = std::min(kStrip, count - first);
      const char* from = at[1] + first * strides[1] * in_bytes;
      // Along kept elements where they lie closer together than reduced ones, else along reduced ones.
      const bool across = lanes >= 8 && std::abs(strides[1]) < std::abs(reduced.strides[inner]);
      if (across) {
        for (int64_t i = 0; i < lanes; ++i) states[i] = folder.start();
        each_run([&](int64_t offset, int64_t index) {
          for (int64_t r = 0; r < reduced.sizes[inner]; ++r) {
            load(numbers, reduced.type, from + (offset + r * reduced.strides[inner]) * in_bytes, strides[1], lanes);
            for (int64_t i = 0; i < lanes; ++i) folder.add(states[i], numbers[i], index + r);
          }
        });
      }
      for (int64_t i = 0; i < lanes; ++i) {
        if (!across) {
          State state = folder.start();
          const char* row = from + i * strides[1] * in_bytes;
          each_run([&](int64_t offset, int64_t index) {
            for (int64_t r = 0; r < reduced.sizes[inner]; r += kStrip) {
              const int64_t length = std::min(kStrip, reduced.sizes[inner] - r);
              load(numbers, reduced.type, row + (offset + r * reduced.strides[inner]) * in_bytes, reduced.strides[inner], length);
              for (int64_t j = 0; j < length; ++j) folder.add(state, numbers[j], index + r + j);
            }
          });
          states[i] = state;
        }
        folder.finish(states[i], at[0] + (first + i) * strides[0] * split.out.element_bytes(),
                      at[2] + (first + i) * strides[2] * second.element_bytes());
      }
    }
  });
}

}  // namespace musa::dnn::emulation
