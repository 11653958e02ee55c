// SPDX-License-Identifier: Apache-2.0
// Formulas: Hochreiter and Schmidhuber 1997 with forget gates (LSTM), Cho et al. 2014 in PyTorch's variant, where the reset
// gate acts on the hidden state's product (GRU).
#include "recurrent.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>


namespace torch_fl {
namespace {

using at::Tensor;

Tensor with_bias(const Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

Tensor through_sigmoid(const Tensor& grad, const Tensor& activated) { return grad * activated * (1 - activated); }
Tensor through_tanh(const Tensor& grad, const Tensor& activated) { return grad * (1 - activated * activated); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& cell,
                                             const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  const auto gates = (with_bias(hidden_gates, hidden_bias) + with_bias(input_gates, input_bias)).chunk(4, 1);
  const Tensor in = gates[0].sigmoid(), forget = gates[1].sigmoid(), candidate = gates[2].tanh(), out = gates[3].sigmoid();
  const Tensor new_cell = forget * cell + in * candidate;
  return {out * new_cell.tanh(), new_cell, at::cat({in, forget, candidate, out}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const OptionalTensor& grad_hidden, const OptionalTensor& grad_cell,
                                                      const Tensor& cell, const Tensor& new_cell, const Tensor& gates,
                                                      bool has_bias) {
  if (!(grad_hidden && grad_hidden->defined()) && !(grad_cell && grad_cell->defined())) return {};
  const auto parts = gates.chunk(4, 1);
  const Tensor &in = parts[0], &forget = parts[1], &candidate = parts[2], &out = parts[3];
  const Tensor grad_h = grad_hidden && grad_hidden->defined() ? *grad_hidden : at::zeros_like(new_cell);
  const Tensor shown = new_cell.tanh();
  Tensor grad_c = through_tanh(grad_h * out, shown);
  if (grad_cell && grad_cell->defined()) grad_c = grad_c + *grad_cell;
  const Tensor grad_gates =
      at::cat({through_sigmoid(grad_c * candidate, in), through_sigmoid(grad_c * cell, forget),
               through_tanh(grad_c * in, candidate), through_sigmoid(grad_h * shown, out)},
              1);
  return {grad_gates, grad_c * forget, has_bias ? grad_gates.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hidden,
                                    const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  const auto in = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const Tensor reset = (in[0] + from_hidden[0]).sigmoid(), update = (in[1] + from_hidden[1]).sigmoid();
  const Tensor fresh = (in[2] + reset * from_hidden[2]).tanh();
  return {fresh + update * (hidden - fresh), at::cat({reset, update, fresh, hidden, from_hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad, const Tensor& workspace,
                                                                     bool has_bias) {
  const auto parts = workspace.chunk(5, 1);
  const Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2], &hidden = parts[3], &from_hidden = parts[4];
  const Tensor grad_update = through_sigmoid(grad * (hidden - fresh), update);
  const Tensor grad_fresh = through_tanh(grad * (1 - update), fresh);
  const Tensor grad_reset = through_sigmoid(grad_fresh * from_hidden, reset);
  const Tensor grad_input = at::cat({grad_reset, grad_update, grad_fresh}, 1);
  const Tensor grad_from_hidden = at::cat({grad_reset, grad_update, grad_fresh * reset}, 1);
  return {grad_input, grad_from_hidden, grad * update, has_bias ? grad_input.sum(0) : Tensor(),
          has_bias ? grad_from_hidden.sum(0) : Tensor()};
}

}  // namespace torch_fl
