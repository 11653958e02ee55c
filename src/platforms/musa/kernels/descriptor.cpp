// SPDX-License-Identifier: Apache-2.0
#include "descriptor.h"

#include <ATen/ops/empty.h>

namespace torch_fl::mudnn {

using at::ScalarType;
using Type = dnn::Tensor::Type;

Type type_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float: return Type::FLOAT;
    case ScalarType::Double: return Type::DOUBLE;
    case ScalarType::Half: return Type::HALF;
    case ScalarType::BFloat16: return Type::BFLOAT16;
    case ScalarType::Long: return Type::INT64;
    case ScalarType::Int: return Type::INT32;
    case ScalarType::Short: return Type::INT16;
    case ScalarType::Char: return Type::INT8;
    case ScalarType::Byte: return Type::UINT8;
    case ScalarType::Bool: return Type::BOOL;
    default: throw Decline(std::string("mudnn has no type for ") + c10::toString(dtype));
  }
}

dnn::Tensor describe(const void* data, ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides) {
  static constexpr int64_t one = 1;
  const bool scalar = sizes.empty();
  dnn::Tensor made;
  check(made.SetType(type_of(dtype)), "Tensor::SetType");
  check(made.SetAddr(data), "Tensor::SetAddr");
  check(made.SetNdInfo(scalar ? 1 : static_cast<int>(sizes.size()), scalar ? &one : sizes.data(),
                       scalar ? &one : strides.data()),
        "Tensor::SetNdInfo");
  return made;
}

dnn::Tensor describe(const at::Tensor& tensor) {
  if (tensor.device().type() != c10::DeviceType::PrivateUse1) throw Decline("an operand is on the CPU");
  if (tensor.layout() != c10::kStrided) throw Decline("an operand is not strided");
  if (tensor.is_conj() || tensor.is_neg()) throw Decline("an operand is conjugated or negated lazily");
  return describe(tensor.const_data_ptr(), tensor.scalar_type(), tensor.sizes(), tensor.strides());
}

bool repeats_one_element(const at::Tensor& tensor) {
  if (tensor.numel() < 2) return false;
  for (int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) != 1 && tensor.stride(d) != 0) return false;
  return true;
}

void copy_into(Session& session, dnn::Tensor& to, const dnn::Tensor& from, bool same_dtype) {
  dnn::Unary copy;
  check(copy.SetMode(same_dtype ? dnn::Unary::Mode::IDENTITY : dnn::Unary::Mode::CAST), "Unary::SetMode");
  check(copy.Run(session.handle(), to, from), "Unary::Run");
}

at::Tensor as_dtype(Session& session, const at::Tensor& tensor, ScalarType dtype) {
  if (tensor.scalar_type() == dtype) return tensor;
  const dnn::Tensor from = describe(tensor);
  at::Tensor made = at::empty(tensor.sizes(), tensor.options().dtype(dtype));
  if (made.numel() == 0) return made;
  dnn::Tensor to = describe(made);
  copy_into(session, to, from, false);
  return made;
}

at::Tensor materialized(Session& session, const at::Tensor& tensor) {
  const dnn::Tensor from = describe(tensor);
  at::Tensor made = at::empty(tensor.sizes(), tensor.options());
  dnn::Tensor to = describe(made);
  copy_into(session, to, from, true);
  return made;
}

}  // namespace torch_fl::mudnn
