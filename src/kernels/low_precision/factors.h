// SPDX-License-Identifier: Apache-2.0
// factors.h: the two matrices of a product, checked and decoded.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_fl::low_precision {

// What an operator and its factors are called, and the dimensions that these have.
struct Names {
  const char* op;
  const char* left;
  const char* right;
  int64_t dimensions;
};

// BF16, of fitting sizes.
struct Factors {
  at::Tensor left, right;
};

// Throws one sentence where the types or the sizes do not go together. `left` and `right` are low, or BF16.
Factors decoded(const Names& names, const at::Tensor& left, const at::Tensor& right);

// The added matrix, BF16 or of the type of the result, with its pairs where they make it fit the sizes of the result.
at::Tensor decoded_added(const Names& names, const at::Tensor& added, const Factors& factors, c10::ScalarType result);

// Whether PyTorch's rounding makes numbers of the type out of a product; throws a sentence where not.
void require_result_type(const Names& names, const char* argument, c10::ScalarType type);

}  // namespace torch_fl::low_precision
