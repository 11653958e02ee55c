// SPDX-License-Identifier: Apache-2.0
// kernels.h: the parts of slot `musa`. The tables' kernels are written at build time; the others stand in the files named here.
#pragma once

#include <flagos_kernels.h>

namespace torch_fl::mudnn {

void add_tables(KernelTable& table);  // generate.py
void add_copy_and_fill(KernelTable& table);
void add_selection(KernelTable& table);
void add_statistics(KernelTable& table);
void add_convolution(KernelTable& table);
void add_normalization(KernelTable& table);
void add_pooling(KernelTable& table);
void add_dropout(KernelTable& table);
void add_random(KernelTable& table);

// A kernel that may leave a call to the next step of its chain.
inline constexpr KernelTraits kMayDecline{.may_decline = true};

}  // namespace torch_fl::mudnn
