// SPDX-License-Identifier: Apache-2.0
// products.h: the operators that multiply matrices, for FP8 and packed FP4 ones: decoded to BF16 and given to the kernel that
// serves BF16 on the device. Results are BF16 where the call names no other type.
#pragma once

#include <flagos_kernels.h>

namespace torch_fl::low_precision {

void add_products(KernelTable& table);

}  // namespace torch_fl::low_precision
