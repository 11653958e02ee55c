// SPDX-License-Identifier: Apache-2.0
// bodies.h: what the tables call. Outputs have been allocated, with PyTorch's shapes and types, when these run.
#pragma once

#include "pointwise.h"

namespace torch_fl::mudnn {

using ReduceMode = dnn::Reduce::Mode;
using SoftmaxMode = dnn::Softmax::Mode;
using ScatterMode = dnn::Scatter::Mode;
using Dims = at::OptionalIntArrayRef;

// activation.cpp
bool is_tanh(std::string_view approximate);  // of GELU; throws for a word that PyTorch does not know
void elu(at::TensorIteratorBase& op, const at::Scalar& alpha, const at::Scalar& scale, const at::Scalar& input_scale);
void leaky_relu_backward(at::TensorIteratorBase& op, const at::Scalar& slope);
void threshold_backward(at::TensorIteratorBase& op, const at::Scalar& threshold);

// reduction.cpp: no dimensions are all dimensions.
void reduce_over(const at::Tensor& out, const at::Tensor& self, Dims dims, ReduceMode mode);
// VARIANCE or STD, divided by count - correction.
void reduce_spread(const at::Tensor& out, const at::Tensor& self, Dims dims, ReduceMode mode, int correction);
void vector_norm(const at::Tensor& out, const at::Tensor& self, const at::Scalar& order, Dims dims);
void extremum(const at::Tensor& values, const at::Tensor& indices, const at::Tensor& self, int64_t dim, ReduceMode mode);
void place_of_extremum(const at::Tensor& indices, const at::Tensor& self, std::optional<int64_t> dim, ReduceMode mode);

// matrix.cpp: out = left @ right, of vectors, matrices or batches.
void product(const at::Tensor& out, const at::Tensor& left, const at::Tensor& right);
// out = alpha * left @ right + beta * self; with beta = 0 self is not read.
void product(const at::Tensor& out, const at::Tensor& left, const at::Tensor& right, const at::Tensor& self,
             const at::Scalar& beta, const at::Scalar& alpha);

// softmax.cpp
void softmax(const at::Tensor& out, const at::Tensor& self, int64_t dim, SoftmaxMode mode);
void softmax_backward(const at::Tensor& grad_input, const at::Tensor& grad, const at::Tensor& output, int64_t dim,
                      SoftmaxMode mode);

// moving.cpp
// Declines an index outside [0, size): on the card it would end all work on the device, on the CPU it is an error that names it.
// Waits for the index.
void require_range(const at::Tensor& index, int64_t size);
void scan(const at::Tensor& out, const at::Tensor& self, int64_t dim, dnn::Cum::Mode mode);
void gather(const at::Tensor& out, const at::Tensor& self, int64_t dim, const at::Tensor& index);
void scatter(const at::Tensor& out, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
             ScatterMode mode);
void scatter(const at::Tensor& out, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Scalar& value);
void sort(const at::Tensor& values, const at::Tensor& indices, const at::Tensor& self, int64_t dim, bool descending,
          std::optional<bool> stable);
void top(const at::Tensor& values, const at::Tensor& indices, const at::Tensor& self, int64_t k, int64_t dim, bool largest,
         bool sorted);

}  // namespace torch_fl::mudnn
