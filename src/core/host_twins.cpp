// SPDX-License-Identifier: Apache-2.0
#include "host_twins.h"

#include <ATen/Utils.h>
#include <ATen/ops/_efficientzerotensor.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>

#include "host_copies.h"
#include "platform.h"
#include "resize.h"
#include "sparse_parts.h"

namespace torch_fl {
namespace {

// Both sides of an alias describe the same elements in the same way.
void copy_geometry(const at::Tensor& from, const at::Tensor& to) {
  auto* impl = to.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

void copy_bits(const at::Tensor& from, const at::Tensor& to) {
  auto* impl = to.unsafeGetTensorImpl();
  if (C10_UNLIKELY(from.is_conj())) impl->_set_conj(true);
  if (C10_UNLIKELY(from.is_neg())) impl->_set_neg(true);
  if (C10_UNLIKELY(from.unsafeGetTensorImpl()->is_wrapped_number())) impl->set_wrapped_number(true);
}

bool same_geometry(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.storage_offset() == b.storage_offset();
}

void fill(c10::DataPtr& device, const void* host, size_t bytes, c10::Stream stream) {
  if (bytes == 0) return;
  if (kernels_in_place()) {
    std::memcpy(host_address(device.get()), host, bytes);
  } else {
    upload(device.get(), host, bytes, stream);
  }
}

// Device memory with what `host` holds; `alone` says that nobody but the caller's tensor holds `host`.
c10::DataPtr device_memory(c10::StorageImpl* host, bool alone, c10::Stream stream) {
  const size_t bytes = host->nbytes();
  if (alone) {
    auto data = host->set_data_ptr(c10::DataPtr(nullptr, c10::Device(c10::kCPU)));
    if (auto device = adopt(data)) return device;
    auto copy = allocator().allocate_on(bytes, stream);
    fill(copy, data.get(), bytes, stream);
    return copy;
  }
  auto copy = allocator().allocate_on(bytes, stream);
  fill(copy, host->data(), bytes, stream);
  return copy;
}

// Zeros that forward-mode differentiation has not materialised: a storage with a size and no memory.
at::Tensor zeros_without_memory(const at::Tensor& like, c10::Device device) {
  return at::_efficientzerotensor(like.sizes(), like.options().device(device));
}

c10::Storage device_storage(c10::DataPtr data, size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t{}, bytes, std::move(data), &allocator(), /*resizable=*/true);
}

}  // namespace

HostTwins::StoragePair& HostTwins::storage_of(const c10::Storage& device) {
  auto* impl = device.unsafeGetStorageImpl();
  for (auto& pair : storages_)
    if (pair.device == impl) return pair;
  // A copy has the size of the whole storage, so that offsets are the same; memory that nobody touches costs nothing.
  auto data = kernels_in_place() ? c10::DataPtr(host_address(impl->data()), c10::Device(c10::kCPU))
                                 : c10::GetCPUAllocator()->allocate(impl->nbytes());
  void* address = data.get();
  c10::Storage host(c10::Storage::use_byte_size_t{}, impl->nbytes(), std::move(data), c10::GetCPUAllocator(), impl->resizable());
  storages_.push_back({impl, std::move(host), address});
  return storages_.back();
}

const at::Tensor& HostTwins::of(const at::Tensor& device, bool written) { return twin(device, written, true); }
const at::Tensor& HostTwins::of_overwritten(const at::Tensor& device) { return twin(device, true, false); }

const at::Tensor& HostTwins::twin(const at::Tensor& device, bool written, bool fetch) {
  for (auto& pair : pairs_) {
    if (!pair.device.is_same(device)) continue;
    pair.written |= written;
    return pair.host;
  }
  if (C10_UNLIKELY(device._is_zerotensor())) {
    pairs_.push_back({device, zeros_without_memory(device, c10::kCPU), written});
    return pairs_.back().host;
  }
  if (C10_UNLIKELY(is_sparse_layout(device))) {
    at::Tensor host = map_parts(device, c10::kCPU, [&](const at::Tensor& part) { return of(part, written); });
    pairs_.push_back({device, std::move(host), written});
    return pairs_.back().host;
  }
  auto& storage = storage_of(device.storage());
  if (!kernels_in_place() && fetch) download_missing(device, storage.address, storage.begin, storage.end);
  auto host = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage.host), c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                       device.dtype());
  copy_geometry(device, host);
  copy_bits(device, host);
  pairs_.push_back({device, std::move(host), written});
  return pairs_.back().host;
}

at::Tensor HostTwins::result(const at::Tensor& host, c10::Stream stream) {
  if (!host.defined()) return host;
  for (auto& pair : pairs_)
    if (pair.host.is_same(host)) return pair.device;
  if (C10_UNLIKELY(host._is_zerotensor())) return zeros_without_memory(host, stream.device());
  if (C10_UNLIKELY(host.device().is_cpu() && is_sparse_layout(host)))
    return map_parts(host, stream.device(), [&](const at::Tensor& part) { return result(part, stream); });
  TORCH_CHECK_NOT_IMPLEMENTED(host.device().is_cpu() && host.layout() == c10::kStrided && !host.is_quantized(),
                              "flagos: the result is a ", host.layout(), host.is_quantized() ? " quantized" : "",
                              " tensor on ", host.device(), ", which flagos tensors cannot be yet; compute it on the CPU");
  auto* impl = host.storage().unsafeGetStorageImpl();
  c10::Storage storage;
  for (auto& pair : storages_) {
    if (pair.host.unsafeGetStorageImpl() != impl) continue;
    storage = c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(pair.device));
  }
  for (auto& [made, device] : adopted_)
    if (made == impl) storage = device;
  if (!storage) {
    const bool alone = host.storage().use_count() == 1;
    const size_t bytes = impl->nbytes();
    storage = device_storage(device_memory(impl, alone, stream), bytes);
    if (!alone) adopted_.emplace_back(impl, storage);
  }
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                                       host.dtype());
  copy_geometry(host, made);
  copy_bits(host, made);
  return made;
}

void HostTwins::write_back(c10::Stream stream) {
  for (auto& pair : storages_) {
    auto* host = pair.host.unsafeGetStorageImpl();
    if (C10_LIKELY(host->data() == pair.address && host->nbytes() == pair.device->nbytes())) continue;
    const size_t bytes = host->nbytes();
    pair.replaced = host->data() != pair.address;
    if (pair.replaced) pair.device->set_data_ptr_noswap(device_memory(host, true, stream));
    set_bytes(*pair.device, bytes);
  }
  for (auto& pair : pairs_) {
    if (!pair.written) continue;
    if (C10_UNLIKELY(is_sparse_layout(pair.host))) {
      assign_parts(pair.device, pair.host, [&](const at::Tensor& part) { return result(part, stream); });
      continue;
    }
    if (C10_UNLIKELY(pair.host._is_zerotensor())) continue;
    auto* known = pair.host.storage().unsafeGetStorageImpl();
    const auto storage = std::find_if(storages_.begin(), storages_.end(),
                                      [&](const auto& entry) { return entry.host.unsafeGetStorageImpl() == known; });
    if (C10_UNLIKELY(storage == storages_.end())) {  // the kernel gave the argument another storage
      const size_t bytes = known->nbytes();
      pair.device.unsafeGetTensorImpl()->set_storage_keep_dtype(device_storage(device_memory(known, false, stream), bytes));
    }
    if (C10_UNLIKELY(!same_geometry(pair.host, pair.device))) copy_geometry(pair.host, pair.device);
    // Of copied memory only the argument's own elements go back: others may be written by somebody else meanwhile.
    if (!kernels_in_place() && storage != storages_.end() && !storage->replaced)
      upload_elements(pair.host, pair.device, stream);
  }
}

bool kernels_in_place() {
  static const bool answer = platform_has(FLAGOS_CAP_HOST_ALIAS);
  return answer;
}

at::Tensor described_on_cpu(const at::Tensor& device) {
  c10::Storage none(c10::Storage::use_byte_size_t{}, device.storage().nbytes(), c10::DataPtr(nullptr, c10::Device(c10::kCPU)),
                    nullptr, /*resizable=*/false);
  auto host = at::detail::make_tensor<c10::TensorImpl>(std::move(none), c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                       device.dtype());
  copy_geometry(device, host);
  return host;
}

}  // namespace torch_fl
