// SPDX-License-Identifier: Apache-2.0
#include "factors.h"

#include <ATen/ExpandUtils.h>
#include <c10/core/GradMode.h>

#include "decode.h"

namespace torch_fl::low_precision {
namespace {

using at::Tensor;
using Places = c10::SmallVector<int64_t, 2>;

// The dimensions along which the pairs may lie. A view keeps bytes whole, so it is the one in which they are closest: the last
// one, and of a transposed matrix the one before. Where the strides do not tell, both may be meant, the last one rather.
Places places(const Tensor& matrix) {
  if (!is_packed(matrix.scalar_type()) || matrix.dim() < 2) return {-1};
  const int64_t rows = matrix.stride(-2), columns = matrix.stride(-1);
  if (rows <= 0 || columns <= 0 || rows == columns) return {-1, -2};
  return {rows < columns ? -2 : -1};
}

std::vector<int64_t> sizes(const Tensor& matrix, int64_t place) {
  std::vector<int64_t> result = matrix.sizes().vec();
  if (is_packed(matrix.scalar_type()) && !result.empty()) result[result.size() + place] *= 2;
  return result;
}

void require_matrix(const Names& names, const char* argument, const Tensor& matrix) {
  TORCH_CHECK(matrix.dim() == names.dimensions, "flagos: ", names.op, ": ", argument, " must have ", names.dimensions,
              " dimensions, and has ", matrix.dim());
  TORCH_CHECK(is_low(matrix.scalar_type()) || matrix.scalar_type() == at::kBFloat16, "flagos: ", names.op, ": ", argument, " is ",
              matrix.scalar_type(), " beside an FP8 or FP4 matrix, which is computed with as BFloat16; convert ", argument,
              " with .to(torch.bfloat16)");
}

// A gradient has the type of what it belongs to, and these cannot hold one.
void require_no_gradient(const Names& names, const char* argument, const Tensor& tensor) {
  const bool unfit = is_packed(tensor.scalar_type()) || tensor.scalar_type() == at::kFloat8_e8m0fnu;
  TORCH_CHECK_NOT_IMPLEMENTED(!unfit || !tensor.requires_grad() || !c10::GradMode::is_enabled(), "flagos: ", names.op, ": ",
                              argument, " is ", tensor.scalar_type(), ", which cannot hold a gradient; use ", argument, ".detach()");
}

}  // namespace

Factors decoded(const Names& names, const Tensor& left, const Tensor& right) {
  require_matrix(names, names.left, left);
  require_matrix(names, names.right, right);
  require_no_gradient(names, names.left, left);
  require_no_gradient(names, names.right, right);
  for (const int64_t l : places(left))
    for (const int64_t r : places(right))
      if (sizes(left, l).back() == *(sizes(right, r).end() - 2)) return {decode(left, l), decode(right, r)};
  const bool packed = is_packed(left.scalar_type()) || is_packed(right.scalar_type());
  TORCH_CHECK(false, "flagos: ", names.op, ": ", names.left, " has ", sizes(left, places(left)[0]).back(), " columns and ",
              names.right, " has ", *(sizes(right, places(right)[0]).end() - 2), " rows; they must be as many",
              packed ? " (a byte of a packed matrix is two values side by side where its bytes lie side by side)" : "");
}

Tensor decoded_added(const Names& names, const Tensor& added, const Factors& factors, c10::ScalarType result) {
  TORCH_CHECK(is_low(added.scalar_type()) || added.scalar_type() == at::kBFloat16 || added.scalar_type() == result, "flagos: ",
              names.op, ": self is ", added.scalar_type(), " and the result ", result, "; convert self with .to(), or name the type of the result with out_dtype=");
  require_no_gradient(names, "self", added);
  std::vector<int64_t> wanted = factors.left.sizes().vec();
  wanted.back() = factors.right.size(-1);
  const Places all = places(added);
  for (const int64_t place : all)
    if (at::is_expandable_to(sizes(added, place), wanted)) return decode(added, place);
  return decode(added, all[0]);  // PyTorch says what does not fit
}

void require_result_type(const Names& names, const char* argument, c10::ScalarType type) {
  using enum c10::ScalarType;
  const bool fits = type == BFloat16 || type == Half || type == Float ||
                    (is_low(type) && !is_packed(type) && type != Float8_e8m0fnu);
  TORCH_CHECK(fits, "flagos: ", names.op, ": ", argument, " is ", type,
              ", which a product of FP8 or FP4 matrices is not given in; use BFloat16, Half, Float or a signed FP8 type");
}

}  // namespace torch_fl::low_precision
