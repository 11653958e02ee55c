// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention, computed in double.
#pragma once

#include "view.h"

namespace musa::dnn::emulation {

struct Attention {
  View query, key, value;  // (batch, heads, length, features); key and value may have fewer heads
  View mask;               // sizes of the scores, or no view
  bool causal;
  double scale;
  int64_t batch() const { return query.sizes[0]; }
  int64_t heads() const { return query.sizes[1]; }
  int64_t shared() const { return query.sizes[1] / key.sizes[1]; }  // query heads for each key head
};

// Writes what is given of out, weights (softmax of the scores) and log_sum_exp.
void forward(const Attention& attention, const View& out, const View& weights, const View& log_sum_exp);

struct AttentionGradient {
  View query, key, value;  // to write
  View scores;             // to write, or no view
  View out;                // given
  View weights;            // the forward's, or no view: computed again
};
void backward(const Attention& attention, const AttentionGradient& gradient);

}  // namespace musa::dnn::emulation
