// SPDX-License-Identifier: Apache-2.0
// library.h: what the slot offers.
#pragma once

#include <flagos_kernels.h>

namespace torch_fl::boxing {

void add_attention(KernelTable& table);        // scaled_dot_product_attention's choice of kernels
void add_flash_attention(KernelTable& table);  // the kernel that PyTorch leaves to other devices; not where the target is the CPU
void add_typed(KernelTable& table);            // written at build time by list_operators.py

}  // namespace torch_fl::boxing
