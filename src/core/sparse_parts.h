// SPDX-License-Identifier: Apache-2.0
// sparse_parts.h: sparse tensors as what they are made of, the dense tensors of their indices and values.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace torch_fl {

using PartMap = std::function<at::Tensor(const at::Tensor&)>;

inline bool is_sparse_layout(const at::Tensor& tensor) {
  const auto layout = tensor.layout();
  return layout == c10::kSparse || layout == c10::kSparseCsr || layout == c10::kSparseCsc || layout == c10::kSparseBsr ||
         layout == c10::kSparseBsc;
}

// A tensor of the same layout, sizes and data type on `device`, made of `map` of each part.
at::Tensor map_parts(const at::Tensor& sparse, c10::Device device, const PartMap& map);

// Gives `target` the sizes of `source` and `map` of each of its parts.
void assign_parts(const at::Tensor& target, const at::Tensor& source, const PartMap& map);

}  // namespace torch_fl
