// SPDX-License-Identifier: Apache-2.0
// engine_threads.h: the threads of PyTorch's autograd engine, one a device, which live as long as the process.
#pragma once

#include "macros.h"

namespace torch_fl {

// Whether they exist: the first backward() starts them all.
TORCH_FL_API bool engine_has_threads();

// Returns when each of them has gone through an empty graph, and so has started, and has let go of the graph before.
// Call it without the interpreter's lock, on a thread whose state holds nothing of Python. How many there were.
TORCH_FL_API int pass_through_engine_threads();

}  // namespace torch_fl
