// SPDX-License-Identifier: Apache-2.0
// Devices, as PyTorch's library has them over the runtime's calls.
#include <c10/cuda/CUDAFunctions.h>

#include <limits>

namespace c10::cuda {

cudaError_t GetDeviceCount(int* dev_count) { return cudaGetDeviceCount(dev_count); }

DeviceIndex device_count() noexcept {
  static const int count = [] {
    int found = 0;
    if (cudaGetDeviceCount(&found) != cudaSuccess) {
      (void)cudaGetLastError();
      return 0;
    }
    return std::min<int>(found, std::numeric_limits<DeviceIndex>::max());
  }();
  return static_cast<DeviceIndex>(count);
}

DeviceIndex device_count_ensure_non_zero() {
  const DeviceIndex count = device_count();
  TORCH_CHECK(count, "No CUDA GPUs are available");
  return count;
}

cudaError_t GetDevice(DeviceIndex* device) {
  int found = -1;
  const cudaError_t error = cudaGetDevice(&found);
  if (error == cudaSuccess) *device = static_cast<DeviceIndex>(found);
  return error;
}

cudaError_t SetDevice(DeviceIndex device, const bool) {
  TORCH_CHECK(device >= 0, "device id must be non-negative!", static_cast<int>(device));
  return cudaSetDevice(device);
}

// Every device of the emulation is ready as soon as it is named: there is no context that setting it could create.
cudaError_t MaybeSetDevice(DeviceIndex device) { return SetDevice(device); }

DeviceIndex current_device() {
  DeviceIndex device = -1;
  C10_CUDA_CHECK(GetDevice(&device));
  return device;
}

void set_device(DeviceIndex device, const bool force) { C10_CUDA_CHECK(SetDevice(device, force)); }
void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }
void warn_or_error_on_sync() {
  TORCH_CHECK(warning_state().get_sync_debug_mode() != SyncDebugMode::L_ERROR, "called a synchronizing CUDA operation");
  TORCH_WARN("called a synchronizing CUDA operation");
}

DeviceIndex ExchangeDevice(DeviceIndex device) {
  const DeviceIndex former = current_device();
  if (device != former) C10_CUDA_CHECK(SetDevice(device));
  return former;
}

DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
void SetTargetDevice() {}

bool hasPrimaryContext(DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "hasPrimaryContext expects a valid device index, but got device_index=",
              static_cast<int>(device));
  return true;
}
std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() {
  return device_count() ? std::optional(current_device()) : std::nullopt;
}

}  // namespace c10::cuda
