// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: one function for a strip of numbers, applied to tensors of any types and strides.
#pragma once

#include <array>
#include <utility>

#include "loop.h"
#include "strip.h"

namespace musa::dnn::emulation {

// A callable of (Result*, const std::array<const Compute*, N>&, count), by reference. One call costs a strip, not an element,
// and the walk below is compiled once for each pair of types instead of once for each operator.
template <class Result, class Compute, size_t N>
class StripFunction {
 public:
  using Inputs = std::array<const Compute*, N>;
  template <class F>
  explicit StripFunction(const F& function)
      : object_(&function), call_([](const void* object, Result* result, const Inputs& inputs, int64_t count) {
          (*static_cast<const F*>(object))(result, inputs, count);
        }) {}
  void operator()(Result* result, const Inputs& inputs, int64_t count) const { call_(object_, result, inputs, count); }

 private:
  const void* object_;
  void (*call_)(const void*, Result*, const Inputs&, int64_t);
};

template <class Result, class Compute, size_t N>
void walk(const View& out, const std::array<View, N>& in, StripFunction<Result, Compute, N> function) {
  std::array<View, N + 1> views;
  views[0] = out;
  std::copy(in.begin(), in.end(), views.begin() + 1);
  alignas(64) Compute buffers[N][kStrip];
  alignas(64) Result results[kStrip];
  Loop<N + 1>(views).each([&](const std::array<char*, N + 1>& at, const std::array<int64_t, N + 1>& strides, int64_t count) {
    const bool in_place = holds<Result>(out.type) && strides[0] == 1;
    for (int64_t first = 0; first < count; first += kStrip) {
      const int64_t length = std::min(kStrip, count - first);
      std::array<const Compute*, N> inputs;
      for (size_t v = 0; v < N; ++v) {
        const char* from = at[v + 1] + first * strides[v + 1] * in[v].element_bytes();
        if (holds<Compute>(in[v].type) && strides[v + 1] == 1) {
          inputs[v] = reinterpret_cast<const Compute*>(from);
        } else {
          load(buffers[v], in[v].type, from, strides[v + 1], length);
          inputs[v] = buffers[v];
        }
      }
      char* to = at[0] + first * strides[0] * out.element_bytes();
      Result* result = in_place ? reinterpret_cast<Result*>(to) : results;
      function(result, inputs, length);
      if (!in_place) store(out.type, to, strides[0], results, length);
    }
  });
}

// out = function(in...), element by element; computed in Compute, with a Result of its own (uint8_t for truth values).
template <class Result, class Compute, class F>
void map(const View& out, const View& in, F function) {
  const auto strip = [&](Result* result, const std::array<const Compute*, 1>& x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) result[i] = function(x[0][i]);
  };
  walk<Result, Compute, 1>(out, {in}, StripFunction<Result, Compute, 1>(strip));
}
template <class Result, class Compute, class F>
void map(const View& out, const View& a, const View& b, F function) {
  const auto strip = [&](Result* result, const std::array<const Compute*, 2>& x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) result[i] = function(x[0][i], x[1][i]);
  };
  walk<Result, Compute, 2>(out, {a, b}, StripFunction<Result, Compute, 2>(strip));
}
template <class Result, class Compute, class F>
void map(const View& out, const View& a, const View& b, const View& c, F function) {
  const auto strip = [&](Result* result, const std::array<const Compute*, 3>& x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) result[i] = function(x[0][i], x[1][i], x[2][i]);
  };
  walk<Result, Compute, 3>(out, {a, b, c}, StripFunction<Result, Compute, 3>(strip));
}

void copy(const View& out, const View& in);  // converts; equal sizes

}  // namespace musa::dnn::emulation
