// SPDX-License-Identifier: Apache-2.0
#include "nvml.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>

namespace flagos::cuda {
namespace {

// Four functions of NVML's C interface (nvml.h of the toolkit); each returns 0 for success.
int32_t ask() {
  // CUDA numbers the cards that this names, in several notations (indices, UUIDs, parts of a card): it decides then.
  if (std::getenv("CUDA_VISIBLE_DEVICES")) return -1;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return -1;
  auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  auto shutdown = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"));
  auto count = reinterpret_cast<int (*)(unsigned*)>(dlsym(library, "nvmlDeviceGetCount_v2"));
  auto version = reinterpret_cast<int (*)(int*)>(dlsym(library, "nvmlSystemGetCudaDriverVersion_v2"));
  int32_t answer = -1;
  if (init && shutdown && count && version && init() == 0) {
    unsigned cards = 0;
    int newest = 0;  // CUDA that the driver runs, as 1000 * major + 10 * minor
    // A driver of an older major version cannot start this runtime: CUDA will answer that there is no device.
    if (count(&cards) == 0 && version(&newest) == 0 && newest / 1000 >= CUDART_VERSION / 1000) answer = static_cast<int32_t>(cards);
    shutdown();
  }
  dlclose(library);
  return answer;
}

}  // namespace

int32_t cards_without_cuda() {
  static const int32_t answer = ask();
  return answer;
}

}  // namespace flagos::cuda
