// SPDX-License-Identifier: Apache-2.0
#include "mudnncxx/mudnn_base.h"

namespace musa::dnn {

Status Tensor::SetType(Type type) {
  type_ = type;
  return Status::SUCCESS;
}

Status Tensor::SetFormat(Format format) {
  format_ = format;
  return Status::SUCCESS;
}

Status Tensor::SetAddr(const void* address) {
  address_ = address;
  return Status::SUCCESS;
}

Status Tensor::SetNdInfo(int rank, const int64_t* sizes, const int64_t* strides) {
  if (rank <= 0 || !sizes || !strides) return Status::INVALID_PARAMETER;
  sizes_.assign(sizes, sizes + rank);
  strides_.assign(strides, strides + rank);
  return Status::SUCCESS;
}

Status Tensor::SetNdInfo(int rank, const int64_t* sizes) {
  if (rank <= 0 || !sizes) return Status::INVALID_PARAMETER;
  sizes_.assign(sizes, sizes + rank);
  strides_.assign(rank, 1);
  for (int d = rank - 2; d >= 0; --d) strides_[d] = strides_[d + 1] * sizes_[d + 1];
  return Status::SUCCESS;
}

Status Tensor::SetNdInfo(std::initializer_list<int64_t> sizes) {
  return SetNdInfo(static_cast<int>(sizes.size()), sizes.begin());
}

Status Tensor::SetNdInfo(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides) {
  if (sizes.size() != strides.size()) return Status::INVALID_PARAMETER;
  return SetNdInfo(static_cast<int>(sizes.size()), sizes.begin(), strides.begin());
}

}  // namespace musa::dnn
