// SPDX-License-Identifier: Apache-2.0
// Devices and versions: where CUDA's numbers are not the MACA runtime's.
#include <array>
#include <utility>

#include "bridge.h"
#include "emulation/quirks.h"

namespace bridge {
namespace {

// CUDA's numbers of attributes.
constexpr std::array kAttributes{
    std::pair{1, mcDeviceAttributeMaxThreadsPerBlock},
    std::pair{2, mcDeviceAttributeMaxBlockDimX},
    std::pair{8, mcDeviceAttributeMaxSharedMemoryPerBlock},
    std::pair{9, mcDeviceAttributeTotalConstantMemory},
    std::pair{10, mcDeviceAttributeWarpSize},
    std::pair{12, mcDeviceAttributeMaxRegistersPerBlock},
    std::pair{13, mcDeviceAttributeClockRate},
    std::pair{16, mcDeviceAttributeMultiProcessorCount},
    std::pair{18, mcDeviceAttributeIntegrated},
    std::pair{31, mcDeviceAttributeConcurrentKernels},
    std::pair{33, mcDeviceAttributePciBusId},
    std::pair{34, mcDeviceAttributePciDeviceId},
    std::pair{36, mcDeviceAttributeMemoryClockRate},
    std::pair{37, mcDeviceAttributeMemoryBusWidth},
    std::pair{38, mcDeviceAttributeL2CacheSize},
    std::pair{39, mcDeviceAttributeMaxThreadsPerMultiProcessor},
    std::pair{75, mcDeviceAttributeComputeCapabilityMajor},
    std::pair{76, mcDeviceAttributeComputeCapabilityMinor},
    std::pair{81, mcDeviceAttributeMaxSharedMemoryPerMultiprocessor},
    std::pair{82, mcDeviceAttributeMaxRegistersPerMultiprocessor},
};

}  // namespace

bool own_device() {
  static const bool own = emulation::quirk("bridge_device");
  return own;
}

thread_local constinit int current = 0;

}  // namespace bridge

using namespace bridge;

extern "C" {

mcError_t cudaSetDevice(int device) {
  if (!own_device()) return mcSetDevice(device);
  int former = 0;
  if (const auto error = mcGetDevice(&former)) return error;
  if (const auto error = mcSetDevice(device)) return error;
  current = device;
  return mcSetDevice(former);
}

mcError_t cudaGetDevice(int* device) {
  if (!own_device()) return mcGetDevice(device);
  if (!device) return mcErrorInvalidValue;
  *device = current;
  return mcSuccess;
}

mcError_t cudaDeviceGetAttribute(int* value, int attribute, int device) {
  for (const auto& [cuda, maca] : kAttributes)
    if (cuda == attribute) return forwarded([&, maca = maca] { return mcDeviceGetAttribute(value, maca, device); });
  return mcErrorInvalidValue;
}

mcError_t cudaDriverGetVersion(int* version) {
  if (!version) return mcErrorInvalidValue;
  *version = kVersion;
  return mcSuccess;
}

mcError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

// These need no device, and start none.
mcError_t cudaGetDeviceCount(int* count) { return mcGetDeviceCount(count); }
mcError_t cudaGetLastError() { return mcGetLastError(); }
mcError_t cudaPeekAtLastError() { return mcPeekAtLastError(); }
const char* cudaGetErrorName(mcError_t error) { return mcGetErrorName(error); }
const char* cudaGetErrorString(mcError_t error) { return mcGetErrorString(error); }
}
