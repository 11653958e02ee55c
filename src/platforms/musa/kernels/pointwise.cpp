// SPDX-License-Identifier: Apache-2.0
#include "pointwise.h"

#include <ATen/ops/empty.h>

namespace torch_fl::mudnn {
namespace {

using at::Scalar;
using at::ScalarType;

template <class Operation>
void set_alpha(Operation& operation, const Scalar& value, bool integral) {
  check(integral ? operation.SetAlpha(value.to<int64_t>()) : operation.SetAlpha(value.to<double>()), "SetAlpha");
}

}  // namespace

Scalar in_type(const Scalar& value, ScalarType dtype) {
  if (value.isComplex()) throw Decline("a complex number");
  auto whole = [&] { return value.isFloatingPoint() ? static_cast<int64_t>(value.toDouble()) : value.to<int64_t>(); };
  switch (dtype) {
    case ScalarType::Bool: return value.to<double>() != 0;
    case ScalarType::Byte: return static_cast<int64_t>(static_cast<uint8_t>(whole()));
    case ScalarType::Char: return static_cast<int64_t>(static_cast<int8_t>(whole()));
    case ScalarType::Short: return static_cast<int64_t>(static_cast<int16_t>(whole()));
    case ScalarType::Int: return static_cast<int64_t>(static_cast<int32_t>(whole()));
    case ScalarType::Long: return whole();
    case ScalarType::Double: return value.to<double>();
    default: return static_cast<double>(static_cast<float>(value.to<double>()));  // computed in float, as the CPU does
  }
}

at::TensorIterator unary_iterator(at::Tensor& out, const at::Tensor& self) {
  type_of(self.scalar_type());
  return at::TensorIterator::unary_op(out, self);
}

Pointwise::Pointwise(at::TensorIteratorBase& iterator, ScalarType compute, Result result)
    : iterator_(iterator),
      compute_(compute),
      result_(result == Result::boolean ? ScalarType::Bool : compute_),
      session_(iterator.device(0)) {
  // What mudnn cannot take is declined here, before anything is queued.
  type_of(compute_);
  for (int i = 0; i < iterator.ntensors(); ++i) type_of(iterator.dtype(i));
  if (empty()) return;
  out_ = iterator.dtype(0) == result_ ? operand(0, result_) : scratch(iterator.shape(), result_);
}

void Pointwise::refuse_bool() const {
  if (compute_ == ScalarType::Bool) throw Decline("mudnn computes with numbers, not with bool");
}

at::DimVector Pointwise::strides(int index) const {
  const int64_t size = iterator_.element_size(index);
  at::DimVector made(iterator_.strides(index));
  for (auto& stride : made) stride /= size;
  return made;
}

dnn::Tensor Pointwise::scratch(at::IntArrayRef sizes, ScalarType dtype) {
  kept_.push_back(at::empty(sizes, at::TensorOptions(session_.device()).dtype(dtype)));
  return describe(kept_.back());
}

dnn::Tensor Pointwise::filled(const Scalar& value, ScalarType dtype) {
  kept_.push_back(at::empty({1}, at::TensorOptions(session_.device()).dtype(dtype)));
  dnn::Fill fill;
  const Scalar number = in_type(value, dtype);
  check(at::isIntegralType(dtype, true) ? fill.SetValue(number.to<int64_t>()) : fill.SetValue(number.to<double>()),
        "Fill::SetValue");
  dnn::Tensor one = describe(kept_.back());
  check(fill.Run(session_.handle(), one), "Fill::Run");
  const at::DimVector still(iterator_.ndim(), 0);
  return describe(kept_.back().const_data_ptr(), dtype, iterator_.shape(), still);
}

dnn::Tensor Pointwise::operand(int index, ScalarType dtype) {
  const auto step = strides(index);
  if (iterator_.dtype(index) == dtype) return describe(iterator_.data_ptr(index), dtype, iterator_.shape(), step);
  // Repeated elements are converted once.
  at::DimVector sizes(iterator_.shape());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (step[d] == 0) sizes[d] = 1;
  const dnn::Tensor from = describe(iterator_.data_ptr(index), iterator_.dtype(index), sizes, step);
  dnn::Tensor to = scratch(sizes, dtype);
  copy_into(session_, to, from, false);
  at::DimVector dense(kept_.back().strides());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (step[d] == 0) dense[d] = 0;
  return describe(kept_.back().const_data_ptr(), dtype, iterator_.shape(), dense);
}

dnn::Tensor Pointwise::in(int i, std::optional<ScalarType> dtype) {
  const ScalarType wanted = dtype.value_or(compute_);
  if (const auto value = number(i)) return filled(*value, wanted);
  return operand(iterator_.noutputs() + i, wanted);
}

std::optional<Scalar> Pointwise::number(int i) const {
  const int index = iterator_.noutputs() + i;
  if (!iterator_.is_cpu_scalar(index)) return std::nullopt;
  if (at::isIntegralType(compute_, true)) return in_type(iterator_.original_scalar_value<int64_t>(index), compute_);
  return in_type(iterator_.original_scalar_value<double>(index), compute_);
}

void Pointwise::run(UnaryMode mode, dnn::Tensor& out, const dnn::Tensor& in, const std::optional<Scalar>& alpha,
                    const std::optional<Scalar>& beta) {
  dnn::Unary operation;
  check(operation.SetMode(mode), "Unary::SetMode");
  if (alpha) set_alpha(operation, *alpha, integral());
  if (beta) check(operation.SetBeta(beta->to<double>()), "Unary::SetBeta");
  check(operation.Run(session_.handle(), out, in), "Unary::Run");
}

void Pointwise::run(BinaryMode mode, dnn::Tensor& out, const dnn::Tensor& a, const dnn::Tensor& b,
                    const std::optional<Scalar>& alpha) {
  dnn::Binary operation;
  check(operation.SetMode(mode), "Binary::SetMode");
  if (alpha) set_alpha(operation, *alpha, integral());
  check(operation.Run(session_.handle(), out, a, b), "Binary::Run");
}

void Pointwise::run(TernaryMode mode, dnn::Tensor& out, const dnn::Tensor& a, const dnn::Tensor& b, const dnn::Tensor& c,
                    const std::optional<Scalar>& alpha) {
  dnn::Ternary operation;
  check(operation.SetMode(mode), "Ternary::SetMode");
  if (alpha) set_alpha(operation, *alpha, integral());
  check(operation.Run(session_.handle(), out, a, b, c), "Ternary::Run");
}

void Pointwise::finish() {
  if (iterator_.dtype(0) == result_) return;
  dnn::Tensor target = describe(iterator_.data_ptr(0), iterator_.dtype(0), iterator_.shape(), strides(0));
  copy_into(session_, target, out_, false);
}

}  // namespace torch_fl::mudnn
