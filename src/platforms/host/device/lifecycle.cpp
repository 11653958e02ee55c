// SPDX-License-Identifier: Apache-2.0
#include "lifecycle.h"

#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "devices.h"
#include "error.h"
#include "fault.h"
#include "memory.h"
#include "streams.h"
#include "workers.h"

namespace flagos::host {
namespace {

std::atomic<bool> forked{false};
std::atomic<int32_t> devices{0};

// Threads do not survive a fork, and locks may be held by threads that no longer exist: nothing works in the child.
void after_fork_in_child() {
  if (ready.exchange(false)) forked = true;
}

// Queued work is dropped; what is running gets a moment to end before static objects are destroyed under it.
void at_exit() {
  if (ready) workers().close(std::chrono::seconds(1));
}

}  // namespace

flagos_status not_ready() {
  if (forked)
    return fail(FLAGOS_ERROR_SYSTEM,
                "flagos was initialised before this process was forked and cannot be used in it: use the spawn start "
                "method (torch.multiprocessing.set_start_method('spawn'))");
  return fail(FLAGOS_ERROR_SYSTEM, "the host platform is not initialised");
}

flagos_status initialize() {
  static auto* mutex = new std::mutex();
  if (forked) return not_ready();
  std::lock_guard lock(*mutex);
  if (ready) return FLAGOS_SUCCESS;
  Settings settings;
  if (const auto status = read_settings(&settings); status != FLAGOS_SUCCESS) return status;
  if (const auto status = reserve_memory(settings); status != FLAGOS_SUCCESS) return status;
  set_devices(settings);
  make_default_streams(settings.devices);
  install_fault_handler(address_space());
  pthread_atfork(nullptr, nullptr, &after_fork_in_child);
  std::atexit(&at_exit);
  devices = settings.devices;
  ready = true;
  return FLAGOS_SUCCESS;
}

flagos_status device_count(int32_t* count) {
  *count = devices;
  if (*count > 0) return FLAGOS_SUCCESS;
  Settings settings;
  const auto status = read_settings(&settings);
  if (status == FLAGOS_SUCCESS) *count = settings.devices;
  return status;
}

}  // namespace flagos::host
