// SPDX-License-Identifier: Apache-2.0
// What the device layer (src/platforms/common/runtime) has to know of the MUSA runtime.
#pragma once

#include <flagos_platform.h>
#include <musa_runtime_api.h>

#define TORCH_FL_RUNTIME(name) musa##name

namespace flagos::musa::vendor {

using Properties = musaDeviceProp;
using PointerAttributes = musaPointerAttributes;
using Attribute = musaDeviceAttr;

inline constexpr const char* kTitle = "MUSA";
inline constexpr const char* kDriver = "Moore Threads driver";
inline constexpr const char* kMonitor = "mthreads-gmi";
inline constexpr const char* kVisibleDevices = "MUSA_VISIBLE_DEVICES";

// An error of the vendor's own as the one that says the same in CUDA's terms.
inline musaError_t common(musaError_t error) { return error; }

inline void complete(const Properties& theirs, flagos_device_properties* ours) { ours->warp_size = theirs.warpSize; }

}  // namespace flagos::musa::vendor
