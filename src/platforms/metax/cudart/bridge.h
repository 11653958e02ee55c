// SPDX-License-Identifier: Apache-2.0
// bridge.h: what this library takes from cu-bridge's, and CUDA's numbers that it needs itself.
#pragma once

namespace torch_fl::cudart {

inline constexpr int kSuccess = 0, kInvalidValue = 1, kNotSupported = 801;  // cudaError_t
inline constexpr int kVersion = 12080;                                      // CUDA 12.8: what PyTorch 2.10 was built for

void* of_bridge(const char* name);  // a function of cu-bridge; null: it has none of that name

}  // namespace torch_fl::cudart
