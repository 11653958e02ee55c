// SPDX-License-Identifier: Apache-2.0
#include "twins.h"

#include <ATen/Utils.h>
#include <ATen/ops/_efficientzerotensor.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>

#include "device_memory.h"

namespace emulated_fork {
namespace {

void copy_geometry(const at::Tensor& from, const at::Tensor& to) {
  to.unsafeGetTensorImpl()->set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

bool same_geometry(const at::Tensor& one, const at::Tensor& other) {
  return one.sizes() == other.sizes() && one.strides() == other.strides() && one.storage_offset() == other.storage_offset();
}

at::Tensor over(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  copy_geometry(like, made);
  auto* impl = made.unsafeGetTensorImpl();
  if (like.is_conj()) impl->_set_conj(true);
  if (like.is_neg()) impl->_set_neg(true);
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return made;
}

at::Tensor zeros_without_memory(const at::Tensor& like, c10::Device device) {
  return at::_efficientzerotensor(like.sizes(), like.options().device(device));
}

c10::Storage on_device(const c10::StorageImpl& host, c10::DeviceIndex device) {
  c10::Storage made = device_storage(host.nbytes(), device);
  if (host.nbytes()) std::memcpy(host_address(made.data()), host.data(), host.nbytes());
  return made;
}

}  // namespace

c10::Storage Twins::host_storage(const c10::Storage& device) {
  for (const auto& pair : storages_)
    if (pair.device.is_alias_of(device)) return pair.host;
  void* address = host_address(device.data());
  auto* cpu = c10::GetCPUAllocator();
  c10::Storage host(c10::Storage::use_byte_size_t{}, device.nbytes(), c10::DataPtr(address, c10::Device(c10::kCPU)), cpu,
                    device.unsafeGetStorageImpl()->resizable());
  storages_.push_back({device, host, address});
  return host;
}

at::Tensor Twins::of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  for (const auto& pair : pairs_)
    if (pair.device.is_same(tensor)) return pair.host;
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == c10::kStrided, "the emulated fork of PyTorch has strided tensors only, got ",
                              tensor.layout(), "; use a card for it");
  at::Tensor host = tensor._is_zerotensor() ? zeros_without_memory(tensor, c10::kCPU)
                                            : over(host_storage(tensor.storage()), c10::DispatchKey::CPU, tensor);
  pairs_.push_back({tensor, host});
  return host;
}

// The storage with the bytes of `host`: an argument's, or a new one, which is remembered for the next result that shares it.
c10::Storage Twins::device_storage_of(const c10::Storage& host, c10::DeviceIndex device) {
  for (const auto& pair : storages_)
    if (pair.host.is_alias_of(host)) return pair.device;
  storages_.push_back({on_device(*host.unsafeGetStorageImpl(), device), host, host.data()});
  return storages_.back().device;
}

at::Tensor Twins::result(const at::Tensor& host, c10::DeviceIndex device) {
  if (!host.defined() || !host.is_cpu()) return host;
  for (const auto& pair : pairs_)
    if (pair.host.is_same(host)) return pair.device;
  if (host._is_zerotensor()) return zeros_without_memory(host, {c10::kCUDA, device});
  TORCH_CHECK_NOT_IMPLEMENTED(host.layout() == c10::kStrided && !host.is_quantized(), "the emulated fork of PyTorch has strided "
                              "tensors only, and this is ", host.layout(), "; use a card for it");
  return over(device_storage_of(host.storage(), device), c10::DispatchKey::CUDA, host);
}

void Twins::write_back() {
  for (auto& pair : storages_) {
    auto* host = pair.host.unsafeGetStorageImpl();
    auto* device = pair.device.unsafeGetStorageImpl();
    if (host->data() == pair.address && host->nbytes() == device->nbytes()) continue;
    if (host->data() != pair.address) {  // the kernel gave the storage other memory
      c10::Storage made = on_device(*host, device->device().index());
      device->set_data_ptr_noswap(made.set_data_ptr(c10::DataPtr(nullptr, device->device())));
    }
    device->set_nbytes(host->nbytes());
    pair.address = host->data();
  }
  for (const auto& [device, host] : pairs_) {
    if (host._is_zerotensor()) continue;
    const c10::Storage storage = device_storage_of(host.storage(), device.device().index());
    auto* impl = device.unsafeGetTensorImpl();
    if (!storage.is_alias_of(device.storage())) impl->set_storage_keep_dtype(storage);
    if (!same_geometry(host, device)) copy_geometry(host, device);
  }
}

}  // namespace emulated_fork
