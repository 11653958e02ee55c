// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include <ATen/native/Resize.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include <tuple>

#include "decode.h"
#include "factors.h"

namespace torch_fl::low_precision {
namespace {

using at::Scalar;
using at::ScalarType;
using at::Tensor;

constexpr Names kMm{"mm", "self", "mat2", 2}, kBmm{"bmm", "self", "mat2", 3};
constexpr Names kAddmm{"addmm", "mat1", "mat2", 2}, kBaddbmm{"baddbmm", "batch1", "batch2", 3};

// A low matrix among the factors, which are the arguments `first` and the next.
template <size_t first>
struct Low {
  bool operator()(const auto&... arguments) const {
    const auto all = std::tie(arguments...);
    return is_low(std::get<first>(all).scalar_type()) || is_low(std::get<first + 1>(all).scalar_type());
  }
};

template <const Names& names>
Tensor mm_dtype(const Tensor& left, const Tensor& right, ScalarType type);
template <const Names& names>
Tensor addmm_dtype(const Tensor& self, const Tensor& left, const Tensor& right, ScalarType type, const Scalar& beta,
                   const Scalar& alpha);

using MmDtype = FrontKernel<"mm.dtype", Low<0>, &mm_dtype<kMm>>;
using BmmDtype = FrontKernel<"bmm.dtype", Low<0>, &mm_dtype<kBmm>>;
using AddmmDtype = FrontKernel<"addmm.dtype", Low<1>, &addmm_dtype<kAddmm>>;
using BaddbmmDtype = FrontKernel<"baddbmm.dtype", Low<1>, &addmm_dtype<kBaddbmm>>;

// Sums are rounded once, to the type of the result: another one than BF16 is made of Float.
constexpr ScalarType computed(ScalarType result) { return result == at::kBFloat16 ? at::kBFloat16 : at::kFloat; }

// Of the factors' type or, where the device has a kernel with such results, of another; else of factors of that type.
Tensor product(const Factors& factors, ScalarType type) {
  const auto& [left, right] = factors;
  const bool batches = left.dim() == 3;
  if (type == left.scalar_type()) return batches ? at::bmm(left, right) : at::mm(left, right);
  if ((batches ? BmmDtype::rest : MmDtype::rest).function.isValid())
    return batches ? at::bmm(left, right, type) : at::mm(left, right, type);
  return product({left.to(type), right.to(type)}, type);
}

Tensor sum(const Tensor& self, const Factors& factors, const Scalar& beta, const Scalar& alpha, ScalarType type) {
  const auto& [left, right] = factors;
  const bool batches = left.dim() == 3;
  if (type == left.scalar_type())
    return batches ? at::baddbmm(self, left, right, beta, alpha) : at::addmm(self, left, right, beta, alpha);
  const Tensor added = self.to(type);
  if ((batches ? BaddbmmDtype::rest : AddmmDtype::rest).function.isValid())
    return batches ? at::baddbmm(added, left, right, type, beta, alpha) : at::addmm(added, left, right, type, beta, alpha);
  return sum(added, {left.to(type), right.to(type)}, beta, alpha, type);
}

template <const Names& names>
Tensor added_product(const Tensor& self, const Tensor& left, const Tensor& right, const Scalar& beta, const Scalar& alpha,
                     ScalarType result) {
  const Factors factors = decoded(names, left, right);
  return sum(decoded_added(names, self, factors, result), factors, beta, alpha, computed(result));
}

Tensor& write(const Tensor& result, Tensor& out) {
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

void require_type(const Names& names, const Tensor& out, ScalarType type) {
  TORCH_CHECK(out.scalar_type() == type, "flagos: ", names.op, ": out is ", out.scalar_type(), " and out_dtype ", type,
              "; they must be the same");
}

template <const Names& names>
Tensor mm(const Tensor& left, const Tensor& right) {
  return product(decoded(names, left, right), at::kBFloat16);
}

template <const Names& names>
Tensor mm_dtype(const Tensor& left, const Tensor& right, ScalarType type) {
  require_result_type(names, "out_dtype", type);
  return product(decoded(names, left, right), computed(type)).to(type);
}

template <const Names& names>
Tensor& mm_out(const Tensor& left, const Tensor& right, Tensor& out) {
  require_result_type(names, "out", out.scalar_type());
  return write(product(decoded(names, left, right), computed(out.scalar_type())), out);
}

template <const Names& names>
Tensor& mm_dtype_out(const Tensor& left, const Tensor& right, ScalarType type, Tensor& out) {
  require_type(names, out, type);
  return mm_out<names>(left, right, out);
}

template <const Names& names>
Tensor addmm(const Tensor& self, const Tensor& left, const Tensor& right, const Scalar& beta, const Scalar& alpha) {
  return added_product<names>(self, left, right, beta, alpha, at::kBFloat16);
}

template <const Names& names>
Tensor addmm_dtype(const Tensor& self, const Tensor& left, const Tensor& right, ScalarType type, const Scalar& beta,
                   const Scalar& alpha) {
  require_result_type(names, "out_dtype", type);
  return added_product<names>(self, left, right, beta, alpha, type).to(type);
}

template <const Names& names>
Tensor& addmm_out(const Tensor& self, const Tensor& left, const Tensor& right, const Scalar& beta, const Scalar& alpha,
                  Tensor& out) {
  require_result_type(names, "out", out.scalar_type());
  return write(added_product<names>(self, left, right, beta, alpha, out.scalar_type()), out);
}

template <const Names& names>
Tensor& addmm_dtype_out(const Tensor& self, const Tensor& left, const Tensor& right, ScalarType type, const Scalar& beta,
                        const Scalar& alpha, Tensor& out) {
  require_type(names, out, type);
  return addmm_out<names>(self, left, right, beta, alpha, out);
}

template <const Names& names>
Tensor& addmm_(Tensor& self, const Tensor& left, const Tensor& right, const Scalar& beta, const Scalar& alpha) {
  require_result_type(names, "self", self.scalar_type());
  const Tensor result = added_product<names>(self, left, right, beta, alpha, self.scalar_type());
  TORCH_CHECK(self.sizes() == result.sizes(), "flagos: ", names.op, "_: self has the sizes ", self.sizes(), " and the result ",
              result.sizes(), "; in place they must be the same");
  return self.copy_(result);
}

}  // namespace

void add_products(KernelTable& table) {
  table.add_front<"mm", Low<0>, &mm<kMm>>();
  table.add_front<"mm.dtype", Low<0>, &mm_dtype<kMm>>();
  table.add_front<"mm.out", Low<0>, &mm_out<kMm>>();
  table.add_front<"mm.dtype_out", Low<0>, &mm_dtype_out<kMm>>();
  table.add_front<"bmm", Low<0>, &mm<kBmm>>();
  table.add_front<"bmm.dtype", Low<0>, &mm_dtype<kBmm>>();
  table.add_front<"bmm.out", Low<0>, &mm_out<kBmm>>();
  table.add_front<"bmm.dtype_out", Low<0>, &mm_dtype_out<kBmm>>();
  table.add_front<"addmm", Low<1>, &addmm<kAddmm>>();
  table.add_front<"addmm.dtype", Low<1>, &addmm_dtype<kAddmm>>();
  table.add_front<"addmm.out", Low<1>, &addmm_out<kAddmm>>();
  table.add_front<"addmm.dtype_out", Low<1>, &addmm_dtype_out<kAddmm>>();
  table.add_front<"addmm_", Low<1>, &addmm_<kAddmm>>();
  table.add_front<"baddbmm", Low<1>, &addmm<kBaddbmm>>();
  table.add_front<"baddbmm.dtype", Low<1>, &addmm_dtype<kBaddbmm>>();
  table.add_front<"baddbmm.out", Low<1>, &addmm_out<kBaddbmm>>();
  table.add_front<"baddbmm.dtype_out", Low<1>, &addmm_dtype_out<kBaddbmm>>();
  table.add_front<"baddbmm_", Low<1>, &addmm_<kBaddbmm>>();
}

}  // namespace torch_fl::low_precision
