// SPDX-License-Identifier: Apache-2.0
#include "copy.h"

#include <ATen/ExpandUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty_like.h>

#include "device_copy.h"
#include "host_twins.h"
#include "pinned.h"
#include "resize.h"
#include "route_log.h"
#include "target_copy.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

bool on_device(const at::Tensor& tensor) { return tensor.device().type() == kDevice; }

// At the call, and not when a stream gets to it.
void refuse_other_shape(const at::Tensor& source, const at::Tensor& target) {
  if (C10_LIKELY(source.sizes() == target.sizes())) return;
  const auto both = at::infer_size(target.sizes(), source.sizes());  // throws in PyTorch's words
  TORCH_CHECK(target.sizes().equals(both), "output with shape ", target.sizes(), " doesn't match the broadcast shape ",
              c10::IntArrayRef(both));
}

// The bytes can move as they lie.
bool is_plain(const at::Tensor& source, const at::Tensor& target) {
  return source.dtype() == target.dtype() && source.is_conj() == target.is_conj() && source.is_neg() == target.is_neg() &&
         source.sizes() == target.sizes() && source.strides() == target.strides() && source.is_non_overlapping_and_dense();
}

void move(const at::Tensor& source, const at::Tensor& target, flagos_copy_kind kind, c10::Stream stream) {
  queue_copy(target.mutable_data_ptr(), source.const_data_ptr(), source.nbytes(), kind, stream, "copy a tensor");
}

void transfer(const at::Tensor& source, const at::Tensor& target, c10::Stream stream) {
  move(source, target, on_device(source) ? FLAGOS_COPY_DEVICE_TO_HOST : FLAGOS_COPY_HOST_TO_DEVICE, stream);
}

// A copy by PyTorch's CPU kernel on the device's own bytes: conversions, strides, and everything inside a device.
void convert_in_place(const at::Tensor& source, const at::Tensor& target, c10::Stream stream) {
  HostTwins twins;
  at::Tensor to = on_device(target) ? twins.of(target, true) : target;
  at::Tensor from = on_device(source) ? twins.of(source) : source;
  auto work = [to, from]() mutable {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    at::native::copy_(to, from, false);
  };
  if (stream.id() == 0 && stream_idle(stream)) return work();
  launch(stream, std::move(work));
}

// The same on copies, where CPU kernels cannot reach the device's bytes.
void convert_on_host(const at::Tensor& source, const at::Tensor& target, c10::Stream stream) {
  static Route* fallback = route("_copy_from", "cpu");
  served(fallback);
  HostTwins twins;
  const bool whole = target.is_non_overlapping_and_dense();
  at::Tensor to = !on_device(target) ? target : whole ? twins.of_overwritten(target) : twins.of(target, true);
  at::Tensor from = on_device(source) ? twins.of(source) : source;
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  at::native::copy_(to, from, false);
  twins.write_back(stream);
}

void copy_inside(const at::Tensor& source, const at::Tensor& target, c10::Stream stream) {
  if (is_plain(source, target)) return move(source, target, FLAGOS_COPY_DEVICE_TO_DEVICE, stream);
  if (!device_copy(source, target)) convert_on_host(source, target, stream);
}

// Each device converts and spreads on its own side; between them the bytes move as they lie.
void copy_between(const at::Tensor& source, const at::Tensor& target, c10::Stream stream, c10::Stream other) {
  if (is_plain(source, target)) return move(source, target, FLAGOS_COPY_DEVICE_TO_DEVICE, stream);
  const at::Tensor packed = at::empty_like(target, target.options().device(source.device()), at::MemoryFormat::Contiguous);
  copy_inside(source, packed, stream);
  const at::Tensor there = at::empty_like(packed, packed.options().device(target.device()));
  order_after(stream, other);  // which may have queued work on the memory of `there`
  move(packed, there, FLAGOS_COPY_DEVICE_TO_DEVICE, stream);
  order_after(other, stream);
  copy_inside(there, target, other);
}

void convert(const at::Tensor& source, const at::Tensor& target, c10::Stream stream, c10::Stream other) {
  if (kernels_in_place()) return convert_in_place(source, target, stream);
  if (!on_device(source) || !on_device(target)) return convert_on_host(source, target, stream);
  if (source.device() == target.device()) return copy_inside(source, target, stream);
  copy_between(source, target, stream, other);
}

}  // namespace

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  ensure_initialized();
  TORCH_CHECK(source.defined() && target.defined(), "flagos: copy of an undefined tensor");
  TORCH_CHECK_NOT_IMPLEMENTED(source.layout() == c10::kStrided && target.layout() == c10::kStrided,
                              "flagos: a copy from ", source.layout(), " to ", target.layout(), " is not supported");
  if (torch_device()) return target_copy(source, target, non_blocking);
  refuse_other_shape(source, target);
  if (target.numel() == 0) return target;
  const c10::Stream stream = current_stream(on_device(source) ? source.device().index() : target.device().index());
  const bool inside = on_device(source) && on_device(target);
  const bool peer = inside && source.device() != target.device();
  const c10::Stream other = peer ? current_stream(target.device().index()) : stream;
  if (peer) order_after(stream, other);
  if (!inside && is_plain(source, target)) {
    transfer(source, target, stream);
  } else {
    convert(source, target, stream, other);
  }
  if (peer) order_after(other, stream);
  if (inside || stream_idle(stream)) return target;
  // The host side is in use until the stream gets there: wait, unless it is pinned memory that can be held.
  const at::Tensor& host = on_device(source) ? target : source;
  if (!non_blocking || !hold_pinned(host.storage().data_ptr(), stream)) synchronize(stream);
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  if (on_device(target)) {
    resize_(target, source.sizes(), std::nullopt);
  } else {
    target.resize_(source.sizes());
  }
  return copy_from(source, target, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  ensure_initialized();
  if (torch_device()) return target_local_scalar(self);
  const auto stream = current_stream(self.device().index());
  if (!stream_idle(stream)) synchronize(stream);
  HostTwins twins;
  return at::native::_local_scalar_dense_cpu(twins.of(self));
}

}  // namespace torch_fl
