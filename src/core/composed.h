// SPDX-License-Identifier: Apache-2.0
// composed.h: the kernels of slot `host`: operators that PyTorch asks of PrivateUse1 under names the CPU does not serve,
// composed of operators that it does.
#pragma once

#include <flagos_kernels.h>

namespace torch_fl {

void add_composed_kernels(KernelTable& table);

}  // namespace torch_fl
