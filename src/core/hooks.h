// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace torch_fl {

void register_hooks();

}  // namespace torch_fl
