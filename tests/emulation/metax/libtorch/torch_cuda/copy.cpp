// SPDX-License-Identifier: Apache-2.0
// Copies to, from and between devices: PyTorch's copy_ comes here once shapes are checked.
#include <ATen/native/Copy.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/copy_native.h>
#include <c10/cuda/CUDAEvent.h>

#include "device_memory.h"
#include "pinned.h"
#include "twins.h"

namespace emulated_fork {
namespace {

using c10::cuda::CUDAStream;

// The bytes can move as they lie.
bool is_plain(const at::Tensor& to, const at::Tensor& from) {
  return to.dtype() == from.dtype() && to.is_conj() == from.is_conj() && to.is_neg() == from.is_neg() &&
         to.strides() == from.strides() && from.is_non_overlapping_and_dense();
}

void order(CUDAStream before, CUDAStream after) {
  if (before == after) return;
  c10::cuda::CUDAEvent event(cudaEventDisableTiming);
  event.record(before);
  event.block(after);
}

void move(const at::Tensor& to, const at::Tensor& from, CUDAStream stream) {
  const auto kind = !from.is_cuda() ? cudaMemcpyHostToDevice : !to.is_cuda() ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  void* target = to.mutable_data_ptr();
  if (kind == cudaMemcpyDeviceToDevice && to.device() != from.device())
    C10_CUDA_CHECK(cudaMemcpyPeerAsync(target, to.get_device(), from.const_data_ptr(), from.get_device(), from.nbytes(), stream));
  else
    C10_CUDA_CHECK(cudaMemcpyAsync(target, from.const_data_ptr(), from.nbytes(), kind, stream));
}

// The host side is in use until the stream gets there: wait, unless it is pinned memory, which can be held back from reuse.
void settle(const at::Tensor& host, CUDAStream stream, bool non_blocking) {
  const c10::DataPtr& data = host.storage().data_ptr();
  if (!non_blocking || !pinned().record_event(data.get(), data.get_context(), stream)) stream.synchronize();
}

void convert(const at::Tensor& to, const at::Tensor& from) {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  Twins twins;
  at::Tensor target = twins.of(to);
  at::native::copy_(target, twins.of(from), false);
}

void copy(at::TensorIterator& iterator, bool non_blocking) {
  if (iterator.numel() == 0) return;
  const at::Tensor to = iterator.tensor(0), from = iterator.tensor(1).expand(to.sizes());
  const c10::DeviceIndex index = from.is_cuda() ? from.get_device() : to.get_device();
  const c10::DeviceGuard there({c10::kCUDA, index});
  const CUDAStream stream = c10::cuda::getCurrentCUDAStream(index);
  const CUDAStream other = to.is_cuda() ? c10::cuda::getCurrentCUDAStream(to.get_device()) : stream;
  order(other, stream);
  if (is_plain(to, from)) {
    move(to, from, stream);
    if (!to.is_cuda() || !from.is_cuda()) settle(to.is_cuda() ? from : to, stream, non_blocking);
  } else {
    stream.synchronize();
    convert(to, from);
  }
  order(stream, other);
}

}  // namespace
}  // namespace emulated_fork

namespace at::native {
REGISTER_CUDA_DISPATCH(copy_stub, &emulated_fork::copy)
}  // namespace at::native
