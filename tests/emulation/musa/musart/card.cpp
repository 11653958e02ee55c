// SPDX-License-Identifier: Apache-2.0
// An emulated MTT S5000, and what the MUSA runtime has beside the functions of base/runtime.
#include "card.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "call.h"
#include "contract.h"

const char* const emulation::launch_call_name = "musaLaunchKernel";
const char* const emulation::compiled_launch_call_name = "muLaunchKernel";

namespace runtime {

const int version_number = MUSART_VERSION;
const char* const quirks = "pointer_device";
const OwnError own_errors[] = {{}};

// What is known: capability 3.1, 60 multiprocessors. The rest is a guess.
vendor::Properties properties(int physical, size_t memory) {
  vendor::Properties out{};
  std::strcpy(out.name, "MTT S5000 (emulated)");
  std::snprintf(out.uuid.bytes, sizeof(out.uuid.bytes), "emulated-musa%02d", physical);
  out.totalGlobalMem = memory;
  out.sharedMemPerBlock = 48 << 10;
  out.sharedMemPerBlockOptin = 192 << 10;
  out.sharedMemPerMultiprocessor = 192 << 10;
  out.regsPerBlock = out.regsPerMultiprocessor = 64 << 10;
  out.warpSize = 32;
  out.memPitch = 0x7fffffff;
  out.maxThreadsPerBlock = 1024;
  out.maxThreadsPerMultiProcessor = 2048;
  std::fill_n(out.maxThreadsDim, 3, 1024);
  out.maxThreadsDim[2] = 64;
  std::fill_n(out.maxGridSize, 3, 0xffff);
  out.maxGridSize[0] = 0x7fffffff;
  out.clockRate = 1'750'000;
  out.totalConstMem = 64 << 10;
  out.major = 3;
  out.minor = 1;
  out.multiProcessorCount = 60;
  out.canMapHostMemory = out.concurrentKernels = out.unifiedAddressing = out.streamPrioritiesSupported = 1;
  out.pciBusID = physical;
  out.asyncEngineCount = 2;
  out.memoryClockRate = 1'600'000;
  out.memoryBusWidth = 4096;
  out.l2CacheSize = 32 << 20;
  return out;
}

bool read_attribute(const vendor::Properties& card, int attribute, int* value) {
  switch (attribute) {
    case musaDevAttrMaxThreadsPerBlock: *value = card.maxThreadsPerBlock; break;
    case musaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(card.sharedMemPerBlock); break;
    case musaDevAttrWarpSize: *value = card.warpSize; break;
    case musaDevAttrClockRate: *value = card.clockRate; break;
    case musaDevAttrMultiProcessorCount: *value = card.multiProcessorCount; break;
    case musaDevAttrIntegrated: *value = card.integrated; break;
    case musaDevAttrL2CacheSize: *value = card.l2CacheSize; break;
    case musaDevAttrMaxThreadsPerMultiProcessor: *value = card.maxThreadsPerMultiProcessor; break;
    case musaDevAttrUnifiedAddressing: *value = card.unifiedAddressing; break;
    case musaDevAttrComputeCapabilityMajor: *value = card.major; break;
    case musaDevAttrComputeCapabilityMinor: *value = card.minor; break;
    case musaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(card.sharedMemPerMultiprocessor); break;
    case musaDevAttrMaxRegistersPerMultiprocessor: *value = card.regsPerMultiprocessor; break;
    case musaDevAttrManagedMemory: *value = card.managedMemory; break;
    case musaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(card.sharedMemPerBlockOptin); break;
    case musaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return false;
  }
  return true;
}

}  // namespace runtime

extern "C" musaError_t musaHostAlloc(void** address, size_t bytes, unsigned int flags) {
  return runtime::call(__func__, [&]() -> musaError_t {
    if (flags > (musaHostAllocPortable | musaHostAllocMapped | musaHostAllocWriteCombined))
      return runtime::refuse(musaErrorInvalidValue, "musaHostAlloc: unknown flags %#x", flags);
    return runtime::allocate_pinned(address, bytes);
  });
}
