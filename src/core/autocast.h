// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace torch_fl {

// torch.autocast("flagos"): PyTorch's own policy lists on the key AutocastPrivateUse1.
void register_autocast();

}  // namespace torch_fl
