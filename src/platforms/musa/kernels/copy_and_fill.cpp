// SPDX-License-Identifier: Apache-2.0
// Strided copy and conversion within a device, and constants.
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>

#include "descriptor.h"
#include "kernels.h"
#include "pointwise.h"

namespace torch_fl::mudnn {
namespace {

using at::Scalar;
using at::Tensor;

dnn::Tensor operand(const at::TensorIteratorBase& iterator, int index) {
  at::DimVector strides(iterator.strides(index));
  for (auto& stride : strides) stride /= iterator.element_size(index);
  return describe(iterator.data_ptr(index), iterator.dtype(index), iterator.shape(), strides);
}

// The core calls this for what is not a plain move of bytes.
Tensor copy_from(const Tensor& self, const Tensor& target, bool /*non_blocking*/) {
  if (self.device() != target.device()) throw Decline("a copy between devices");
  if (self.is_conj() || self.is_neg() || target.is_conj() || target.is_neg()) throw Decline("a lazy conjugate or negative");
  if (self.layout() != c10::kStrided || target.layout() != c10::kStrided) throw Decline("a tensor that is not strided");
  type_of(self.scalar_type());
  type_of(target.scalar_type());
  const auto iterator = at::TensorIteratorConfig()
                            .add_output(target)
                            .add_const_input(self)
                            .resize_outputs(false)
                            .check_all_same_dtype(false)
                            .check_all_same_device(true)
                            .build();
  if (iterator.numel() == 0) return target;
  Session session(target);
  dnn::Tensor to = operand(iterator, 0);
  copy_into(session, to, operand(iterator, 1), self.scalar_type() == target.scalar_type());
  return target;
}

void set_value(dnn::Fill& fill, const Scalar& value, at::ScalarType dtype) {
  const Scalar number = in_type(value, dtype);
  check(at::isIntegralType(dtype, true) ? fill.SetValue(number.to<int64_t>()) : fill.SetValue(number.to<double>()),
        "Fill::SetValue");
}

// A value that the type cannot hold is PyTorch's to refuse.
void refuse_overflow(const Scalar& value, at::ScalarType dtype) {
  if (!at::isIntegralType(dtype, false)) return;
  if (in_type(value, dtype).to<double>() != value.to<double>()) throw Decline("a value that the type does not hold");
}

Tensor& fill_scalar_(Tensor& self, const Scalar& value) {
  type_of(self.scalar_type());
  refuse_overflow(value, self.scalar_type());
  const auto iterator = at::TensorIteratorConfig()
                            .set_check_mem_overlap(false)
                            .check_all_same_dtype(false)
                            .add_output(self)
                            .resize_outputs(false)
                            .build();
  if (iterator.numel() == 0) return self;
  Session session(self);
  dnn::Fill fill;
  set_value(fill, value, self.scalar_type());
  dnn::Tensor to = operand(iterator, 0);
  check(fill.Run(session.handle(), to), "Fill::Run");
  return self;
}

// The number stays where it is: nothing waits for it.
Tensor& fill_tensor_(Tensor& self, const Tensor& value) {
  if (value.dim() != 0) throw Decline("a value that is not of rank 0");
  if (value.device().is_cpu()) return self.fill_(value.item());
  self.copy_(value);
  return self;
}

Tensor& zero_(Tensor& self) { return fill_scalar_(self, 0); }

Tensor& masked_fill_scalar_(Tensor& self, const Tensor& mask, const Scalar& value) {
  if (mask.scalar_type() != at::kBool || self.device() != mask.device()) throw Decline("a mask of another type or device");
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) throw Decline("an expanded tensor, which PyTorch fills with a warning");
  type_of(self.scalar_type());
  refuse_overflow(value, self.scalar_type());
  const auto iterator = at::TensorIteratorConfig()
                            .set_check_mem_overlap(true)
                            .check_all_same_dtype(false)
                            .resize_outputs(false)
                            .add_output(self)
                            .add_const_input(mask)
                            .build();
  if (iterator.numel() == 0) return self;
  Session session(self);
  dnn::Fill fill;
  set_value(fill, value, self.scalar_type());
  dnn::Tensor to = operand(iterator, 0);
  check(fill.Run(session.handle(), to, operand(iterator, 1)), "Fill::Run");
  return self;
}

}  // namespace

void add_copy_and_fill(KernelTable& table) {
  table.add<"_copy_from", &copy_from>(kMayDecline);
  table.add<"fill_.Scalar", &fill_scalar_>(kMayDecline);
  table.add<"fill_.Tensor", &fill_tensor_>(kMayDecline);
  table.add<"zero_", &zero_>(kMayDecline);
  table.add<"masked_fill_.Scalar", &masked_fill_scalar_>(kMayDecline);
}

}  // namespace torch_fl::mudnn
