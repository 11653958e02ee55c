// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace flagos::cuda {

// How many cards NVIDIA's management library sees, asked once in a process; -1 where it cannot stand for CUDA's own answer. Unlike
// CUDA it starts no driver, so a process that has only asked may be forked.
int32_t cards_without_cuda();

}  // namespace flagos::cuda
