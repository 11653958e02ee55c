// SPDX-License-Identifier: Apache-2.0
// tf32.h: products of float32 as the card's matrix units make them where PyTorch's switches allow TF32.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

namespace emulated_fork {

// Of a product of matrices, the position of its first factor, which the second follows; nothing for another operator.
std::optional<size_t> first_factor(std::string_view op);

// Whether a convolution with these weights has so many channels that libraries take the matrix units for it.
bool is_wide(const at::Tensor& weight);

// The float32 matrix with ten bits of mantissa, rounded to nearest; what it is given where TF32 is not allowed.
at::Tensor as_factor(const at::Tensor& host, bool of_convolution);

}  // namespace emulated_fork
