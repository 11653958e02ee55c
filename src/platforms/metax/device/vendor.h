// SPDX-License-Identifier: Apache-2.0
// What the device layer (src/platforms/common/runtime) has to know of the MACA runtime.
#pragma once

#include <flagos_platform.h>
#include <mcr/mc_runtime_api.h>

#define TORCH_FL_RUNTIME(name) mc##name

namespace flagos::metax::vendor {

using Properties = mcDeviceProp_t;
using PointerAttributes = mcPointerAttribute_t;
using Attribute = mcDeviceAttribute_t;

inline constexpr const char* kTitle = "MACA";
inline constexpr const char* kDriver = "MetaX driver";
inline constexpr const char* kMonitor = "mx-smi";
inline constexpr const char* kVisibleDevices = "MACA_VISIBLE_DEVICES";

// An error of the vendor's own as the one that says the same in CUDA's terms.
inline mcError_t common(mcError_t error) {
  switch (error) {
    case mcErrorInvalidParameter: return mcErrorInvalidValue;
    case mcErrorNoMemory: return mcErrorMemoryAllocation;
    case mcErrorNotImplemented: return mcErrorNotSupported;
    case mcErrorDockerDriverUnload:
    case mcErrorDriverMismatch: return mcErrorInsufficientDriver;
    case mcErrorKernelExecTimeout: return mcErrorLaunchFailure;
    default: return error;
  }
}

inline void complete(const Properties& theirs, flagos_device_properties* ours) {
  ours->warp_size = theirs.waveSize;
  // Some versions give the number of the card's architecture (xcore1000) where CUDA has its compute capability.
  if (theirs.major > 100) {
    ours->major = 8;
    ours->minor = 0;
  }
}

}  // namespace flagos::metax::vendor
