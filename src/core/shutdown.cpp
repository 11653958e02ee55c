// SPDX-License-Identifier: Apache-2.0
// shutdown.cpp: a clean end. PyTorch's autograd engine keeps one thread a device for ever. Such a thread still holds the
// finished graph for a moment after backward() has returned; dropping it needs the interpreter, and a thread that asks a
// finalising interpreter for its lock is killed, which ends the process with "terminate called without an active
// exception". A graph that holds nothing of Python, run last on each thread, makes it let go of the one before.
#include <ATen/ops/ones.h>
#include <ATen/ops/mul.h>

#include <thread>

#include "device.h"
#include "route_log.h"
#include "start.h"

namespace torch_fl {
namespace {

void drain(c10::DeviceIndex index) {
  const auto options = at::TensorOptions().device(c10::Device(kDevice, index)).requires_grad(true);
  at::ones({1}, options).mul(2).backward();
}

}  // namespace

void shutdown() noexcept {
  if (!is_initialized()) return;
  set_log(false, false);  // what follows is not the program's doing
  try {
    // A fresh thread has fresh thread-local state: no mode, no hook, no Python object travels with its graph.
    std::thread([] {
      try {
        for (int i = 0; i < device_count(); ++i) drain(static_cast<c10::DeviceIndex>(i));
      } catch (...) {  // out of memory, say: there is nobody left to tell
      }
    }).join();
    for (int i = 0; i < device_count(); ++i) synchronize_device(static_cast<c10::DeviceIndex>(i));
  } catch (...) {  // work that failed after its last synchronisation has nobody left to tell either
  }
}

}  // namespace torch_fl
