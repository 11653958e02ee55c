// SPDX-License-Identifier: Apache-2.0
// shutdown.cpp: a clean end. A thread that asks a finalising interpreter for its lock is killed, which ends the process with
// "terminate called without an active exception". Those of PyTorch's autograd engine ask for it when they start, which one of a
// device that backward() did not use may not have done yet; and for a moment after backward() has returned, to drop the graph.
#include <thread>

#include "allocator.h"
#include "device.h"
#include "engine_threads.h"
#include "route_log.h"
#include "start.h"

namespace torch_fl {
namespace {

// To wait for a card that nothing has used is to begin to use it.
bool has_held_memory(c10::DeviceIndex index) { return allocator().getDeviceStats(index).reserved_bytes[0].peak > 0; }

}  // namespace

void shutdown() noexcept {
  if (!is_initialized()) return;
  set_log(false, false);  // what follows is not the program's doing
  try {
    // A fresh thread has fresh thread-local state: no mode, no hook, no Python object travels with its graphs.
    if (engine_has_threads())
      std::thread([] {
        try {
          pass_through_engine_threads();
        } catch (...) {  // out of memory, say: there is nobody left to tell
        }
      }).join();
    for (int i = 0; i < device_count(); ++i)
      if (const auto index = static_cast<c10::DeviceIndex>(i); has_held_memory(index)) synchronize_device(index);
  } catch (...) {  // work that failed after its last synchronisation has nobody left to tell either
  }
}

}  // namespace torch_fl
