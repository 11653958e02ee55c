// SPDX-License-Identifier: Apache-2.0
// recurrent.h: the fused LSTM and GRU cells that PyTorch asks of every accelerator. `batch` rows; gates lie side by side in
// columns: input, forget, cell, output for LSTM [batch, 4*hidden]; reset, update, new for GRU [batch, 3*hidden].
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace torch_fl {

using OptionalTensor = std::optional<at::Tensor>;

// New hidden state, new cell state and the activated gates.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                                         const at::Tensor& cell, const OptionalTensor& input_bias,
                                                         const OptionalTensor& hidden_bias);
// Gradients of the gates (either half), of the old cell state and of the bias.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(const OptionalTensor& grad_hidden,
                                                                  const OptionalTensor& grad_cell, const at::Tensor& cell,
                                                                  const at::Tensor& new_cell, const at::Tensor& gates,
                                                                  bool has_bias);
// New hidden state, and what the backward needs: reset, update, new, old hidden state, hidden part of new.
std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                            const at::Tensor& hidden, const OptionalTensor& input_bias,
                                            const OptionalTensor& hidden_bias);
// Gradients of input gates, hidden gates, old hidden state, input bias and hidden bias.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(const at::Tensor& grad,
                                                                                         const at::Tensor& workspace,
                                                                                         bool has_bias);

}  // namespace torch_fl
