// SPDX-License-Identifier: Apache-2.0
// sparse.h: COO and compressed sparse tensors, whose indices and values lie on the device.
#pragma once

namespace torch_fl {

// Registers the operators of sparse tensors, and one clear error for layouts that flagos does not have.
void register_sparse();

}  // namespace torch_fl
