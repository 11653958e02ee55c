// SPDX-License-Identifier: Apache-2.0
#include "sparse_parts.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <c10/core/DeviceGuard.h>

namespace torch_fl {
namespace {

at::SparseTensorImpl* coordinates(const at::Tensor& tensor) {
  return static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}

at::SparseCsrTensorImpl* compressed(const at::Tensor& tensor) {
  return static_cast<at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
}

}  // namespace

at::Tensor map_parts(const at::Tensor& sparse, c10::Device device, const PartMap& map) {
  using Key = c10::DispatchKey;
  const c10::DispatchKeySet coo(device.is_cpu() ? Key::SparseCPU : Key::SparsePrivateUse1);
  const c10::DispatchKeySet csr(device.is_cpu() ? Key::SparseCsrCPU : Key::SparseCsrPrivateUse1);
  const c10::DeviceGuard on_device(device);  // the constructor of COO tensors takes the current one for theirs
  at::Tensor made = sparse.layout() == c10::kSparse
                        ? at::detail::make_tensor<at::SparseTensorImpl>(coo, sparse.dtype())
                        : at::detail::make_tensor<at::SparseCsrTensorImpl>(csr, device, sparse.layout(), sparse.dtype());
  assign_parts(made, sparse, map);
  return made;
}

void assign_parts(const at::Tensor& target, const at::Tensor& source, const PartMap& map) {
  if (source.layout() == c10::kSparse) {
    auto* from = coordinates(source);
    auto* to = coordinates(target);
    to->raw_resize_(from->sparse_dim(), from->dense_dim(), from->sizes());
    to->set_indices_and_values_unsafe(map(from->indices()), map(from->values()));
    to->set_coalesced(from->coalesced());
    return;
  }
  auto* from = compressed(source);
  compressed(target)->set_member_tensors(map(from->compressed_indices()), map(from->plain_indices()), map(from->values()),
                                         from->sizes());
}

}  // namespace torch_fl
