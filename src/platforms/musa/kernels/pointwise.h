// SPDX-License-Identifier: Apache-2.0
// pointwise.h: element-wise operators. PyTorch's TensorIterator has already broadcast, promoted, allocated and joined the
// dimensions; its operands go to mudnn as strided tensors, after a cast where their type is not the one computed in.
#pragma once

#include <ATen/TensorIterator.h>

#include <deque>
#include <optional>

#include "descriptor.h"

namespace torch_fl::mudnn {

using UnaryMode = dnn::Unary::Mode;
using BinaryMode = dnn::Binary::Mode;
using TernaryMode = dnn::Ternary::Mode;

// One iterator on its way through mudnn. `result` is what mudnn writes: the common type, or Bool for comparisons.
class Pointwise {
 public:
  enum class Result { common, boolean };
  explicit Pointwise(at::TensorIteratorBase& iterator, Result result = Result::common)
      : Pointwise(iterator, iterator.common_dtype(), result) {}
  Pointwise(at::TensorIteratorBase& iterator, at::ScalarType compute, Result result = Result::common);

  bool empty() const { return iterator_.numel() == 0; }
  at::ScalarType compute() const { return compute_; }
  bool integral() const { return at::isIntegralType(compute_, false); }
  // bool is a number to PyTorch, and to mudnn only in logic, comparisons and copies.
  void refuse_bool() const;

  Session& session() { return session_; }
  dnn::Tensor& out() { return out_; }
  // Input i in the computed type; a number from the CPU becomes one element that repeats.
  dnn::Tensor in(int i, std::optional<at::ScalarType> dtype = std::nullopt);
  // A number that PyTorch wrapped in a CPU tensor, in the computed type.
  std::optional<at::Scalar> number(int i) const;
  // A dense tensor of the iterator's shape and the computed type.
  dnn::Tensor temporary() { return scratch(iterator_.shape(), compute_); }

  void run(UnaryMode mode, dnn::Tensor& out, const dnn::Tensor& in, const std::optional<at::Scalar>& alpha = std::nullopt,
           const std::optional<at::Scalar>& beta = std::nullopt);
  void run(BinaryMode mode, dnn::Tensor& out, const dnn::Tensor& a, const dnn::Tensor& b,
           const std::optional<at::Scalar>& alpha = std::nullopt);
  void run(TernaryMode mode, dnn::Tensor& out, const dnn::Tensor& a, const dnn::Tensor& b, const dnn::Tensor& c,
           const std::optional<at::Scalar>& alpha = std::nullopt);
  // Converts the result where the output has another type. Last of all.
  void finish();

  dnn::Tensor filled(const at::Scalar& value, at::ScalarType dtype);

 private:
  dnn::Tensor scratch(at::IntArrayRef sizes, at::ScalarType dtype);
  dnn::Tensor operand(int index, at::ScalarType dtype);
  at::DimVector strides(int index) const;

  at::TensorIteratorBase& iterator_;
  at::ScalarType compute_, result_;
  Session session_;
  std::deque<at::Tensor> kept_;
  dnn::Tensor out_;
};

// The scalar as the type holds it (300 is 44 in uint8). Throws Decline for what is not a real number.
at::Scalar in_type(const at::Scalar& value, at::ScalarType dtype);

// PyTorch's own for operators that are not structured, which wants both of one type: complex numbers, whose magnitude is real,
// are declined first.
at::TensorIterator unary_iterator(at::Tensor& out, const at::Tensor& self);
// out = mode(self). Integers pass through rounding modes as they are.
void unary(at::TensorIteratorBase& iterator, UnaryMode mode, const std::optional<at::Scalar>& alpha = std::nullopt,
           const std::optional<at::Scalar>& beta = std::nullopt);
// out = mode(self, other); numbers go in as mudnn's alpha.
void binary(at::TensorIteratorBase& iterator, BinaryMode mode);
// As binary, and out is bool whatever the operands are.
void comparison(at::TensorIteratorBase& iterator, BinaryMode mode);
void logical(at::TensorIteratorBase& iterator, BinaryMode mode);
// As binary for division and remainder of integers: only by a number that is not 0, since a device cannot raise.
void quotient(at::TensorIteratorBase& iterator, BinaryMode mode);

void add(at::TensorIteratorBase& iterator, const at::Scalar& alpha);
void subtract(at::TensorIteratorBase& iterator, const at::Scalar& alpha);
void divide(at::TensorIteratorBase& iterator, std::optional<std::string_view> rounding);
void negate(at::TensorIteratorBase& iterator);
// self + weight * (end - self), from the nearer end.
void interpolate(at::TensorIteratorBase& iterator, const at::Scalar& weight);
void expm1(at::TensorIteratorBase& iterator);
// out = mode(gradient, saved): the order in which mudnn takes them.
void backward(at::TensorIteratorBase& iterator, BinaryMode mode, const std::optional<at::Scalar>& alpha = std::nullopt);
void ternary(at::TensorIteratorBase& iterator, TernaryMode mode, const at::Scalar& alpha);

}  // namespace torch_fl::mudnn
