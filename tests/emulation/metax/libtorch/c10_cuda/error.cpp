// SPDX-License-Identifier: Apache-2.0
// What a failed call of the runtime becomes: the exception and the words that PyTorch's own library has for it.
#include <c10/cuda/CUDAException.h>

#include <cstdlib>

namespace c10::cuda {

std::mutex* getFreeMutex() {
  static auto* mutex = new std::mutex();
  return mutex;
}

const char* get_cuda_check_suffix() noexcept {
  static const bool blocking = [] {
    const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value && value[0] == '1';
  }();
  return blocking ? "" : "\nCUDA kernel errors might be asynchronously reported at some other API call.";
}

std::string get_cuda_error_help(cudaError_t) noexcept { return ""; }
const char* get_cuda_async_error_suffix(cudaError_t) noexcept { return get_cuda_check_suffix(); }
std::string c10_retrieve_device_side_assertion_info() { return "The emulated device has no device-side assertions."; }

void c10_cuda_check_implementation(const int32_t err, const char* filename, const char* function_name,
                                   const uint32_t line_number, const bool) {
  const auto error = static_cast<cudaError_t>(err);
  if (C10_LIKELY(error == cudaSuccess)) return;
  (void)cudaGetLastError();
  throw c10::AcceleratorError({function_name, filename, line_number}, err,
                              c10::str("CUDA error: ", cudaGetErrorString(error), get_cuda_check_suffix()));
}

}  // namespace c10::cuda
