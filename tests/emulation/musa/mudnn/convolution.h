// SPDX-License-Identifier: Apache-2.0
// The shape of a convolution in two dimensions, and the products that it is made of.
#pragma once

#include <array>
#include <vector>

#include "matrix.h"
#include "view.h"

namespace musa::dnn::emulation {

// All views are channels first: in (batch, channels, height, width), weight (out channels, channels / groups, kernel height,
// kernel width), out (batch, out channels, height, width).
struct Filter {
  View in, weight, out;
  std::array<int64_t, 2> pad, stride, dilation;
  int64_t groups;
  bool tf32;

  int64_t channels() const { return weight.sizes[1]; }  // of a group
  int64_t filters() const { return weight.sizes[0] / groups; }
  int64_t taps() const { return channels() * weight.sizes[2] * weight.sizes[3]; }
  int64_t places() const { return out.sizes[2] * out.sizes[3]; }
  double operations() const { return 2.0 * out.elements() * taps(); }
};

void forward(const Filter& filter, const View& bias, const View& add, bool relu);
void backward_data(const Filter& filter);    // writes in
void backward_filter(const Filter& filter);  // writes weight

}  // namespace musa::dnn::emulation
