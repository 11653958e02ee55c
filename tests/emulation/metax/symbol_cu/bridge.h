// SPDX-License-Identifier: Apache-2.0
// cu-bridge's runtime: CUDA's names over the MACA runtime, at the level of CUDA 11.6. Handles and errors are the MACA
// runtime's.
#pragma once

#include <mcr/mc_runtime_api.h>

namespace bridge {

inline constexpr int kVersion = 11060;  // of CUDA

// The quirk that the bridge has a current device of its own: cudaSetDevice does not move the MACA runtime's, nor the other way
// round. Its calls run on its own.
bool own_device();
extern thread_local int current;

template <typename Call>
mcError_t forwarded(Call&& call) {
  if (!own_device()) return call();
  int former = 0;
  if (const auto error = mcGetDevice(&former)) return error;
  if (former != current) mcSetDevice(current);
  const mcError_t error = call();
  if (former != current) mcSetDevice(former);
  return error;
}

}  // namespace bridge
