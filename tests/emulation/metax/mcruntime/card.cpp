// SPDX-License-Identifier: Apache-2.0
// An emulated MetaX C550.
#include "card.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "activity.h"

const char* const emulation::launch_call_name = "mcLaunchKernel";
const char* const emulation::compiled_launch_call_name = "mcModuleLaunchKernel";

namespace runtime {

const int version_number = MACA_VERSION;
const char* const quirks = "unknown_pointer,own_errors,capability";
const OwnError own_errors[] = {
    {mcErrorMemoryAllocation, mcErrorNoMemory, "mcErrorNoMemory", "no memory available"},
    {},
};

// What is known: a wave has 64 threads, the architecture is xcore1000. The rest is a guess.
vendor::Properties properties(int physical, size_t memory) {
  vendor::Properties out{};
  std::strcpy(out.name, "MetaX C550 (emulated)");
  std::snprintf(out.uuid.bytes, sizeof(out.uuid.bytes), "emulated-maca%02d", physical);
  out.totalGlobalMem = memory;
  out.sharedMemPerBlock = out.sharedMemPerBlockOptin = out.sharedMemPerMultiprocessor = 64 << 10;
  out.regsPerBlock = out.regsPerMultiprocessor = 128 << 10;
  out.waveSize = 64;
  out.maxThreadsPerBlock = 1024;
  out.maxThreadsPerMultiProcessor = 2048;
  std::fill_n(out.maxThreadsDim, 3, 1024);
  std::fill_n(out.maxGridSize, 3, 0x7fffffff);
  out.clockRate = 1'600'000;
  out.totalConstMem = 64 << 10;
  out.major = odd("capability") ? 1000 : 8;
  out.minor = 0;
  out.multiProcessorCount = 104;
  out.canMapHostMemory = out.concurrentKernels = 1;
  out.pciBusID = physical;
  out.memoryClockRate = 1'800'000;
  out.memoryBusWidth = 4096;
  out.l2CacheSize = 8 << 20;
  return out;
}

bool read_attribute(const vendor::Properties& card, int attribute, int* value) {
  switch (attribute) {
    case mcDeviceAttributeMaxThreadsPerBlock: *value = card.maxThreadsPerBlock; break;
    case mcDeviceAttributeMaxSharedMemoryPerBlock: *value = static_cast<int>(card.sharedMemPerBlock); break;
    case mcDeviceAttributeTotalConstantMemory: *value = static_cast<int>(card.totalConstMem); break;
    case mcDeviceAttributeWarpSize:
    case mcDeviceAttributeWaveSize: *value = card.waveSize; break;
    case mcDeviceAttributeMaxRegistersPerBlock: *value = card.regsPerBlock; break;
    case mcDeviceAttributeMaxRegistersPerMultiprocessor: *value = card.regsPerMultiprocessor; break;
    case mcDeviceAttributeClockRate: *value = card.clockRate; break;
    case mcDeviceAttributeMemoryClockRate: *value = card.memoryClockRate; break;
    case mcDeviceAttributeMemoryBusWidth: *value = card.memoryBusWidth; break;
    case mcDeviceAttributeMultiProcessorCount: *value = card.multiProcessorCount; break;
    case mcDeviceAttributeL2CacheSize: *value = card.l2CacheSize; break;
    case mcDeviceAttributeMaxThreadsPerMultiProcessor: *value = card.maxThreadsPerMultiProcessor; break;
    case mcDeviceAttributeComputeCapabilityMajor: *value = card.major; break;
    case mcDeviceAttributeComputeCapabilityMinor: *value = card.minor; break;
    case mcDeviceAttributeConcurrentKernels: *value = card.concurrentKernels; break;
    case mcDeviceAttributePciBusId: *value = card.pciBusID; break;
    case mcDeviceAttributePciDeviceId: *value = card.pciDeviceID; break;
    case mcDeviceAttributeMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(card.sharedMemPerMultiprocessor); break;
    case mcDeviceAttributeIntegrated: *value = card.integrated; break;
    default: return false;
  }
  return true;
}

}  // namespace runtime
