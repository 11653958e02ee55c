// SPDX-License-Identifier: Apache-2.0
// engine_threads.h: the threads of PyTorch's autograd engine, one a device, which live as long as the process.
#pragma once

namespace torch_fl {

// Returns when each of them has gone through an empty graph, and so has started, and has let go of the graph before.
// Call it without the interpreter's lock.
void pass_through_engine_threads();

}  // namespace torch_fl
