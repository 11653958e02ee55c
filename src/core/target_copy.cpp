// SPDX-License-Identifier: Apache-2.0
#include "target_copy.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/copy_native.h>

#include "torch_device.h"

namespace torch_fl {
namespace {

at::Tensor seen_by_target(const at::Tensor& tensor) { return is_flagos(tensor) ? as_target(tensor) : tensor; }

// Between devices PyTorch makes a source with gaps contiguous first, which carries out what its bits put off, and then sets
// them once more.
at::Tensor without_bits(const at::Tensor& source, const at::Tensor& target) {
  return source.device() == target.device() ? source : source.resolve_conj().resolve_neg();
}

}  // namespace

at::Tensor target_copy(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  at::Tensor to = seen_by_target(target);
  at::native::copy_(to, without_bits(seen_by_target(source), to), non_blocking);
  return target;
}

at::Scalar target_local_scalar(const at::Tensor& self) {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  return at::_local_scalar_dense(as_target(self));
}

}  // namespace torch_fl
