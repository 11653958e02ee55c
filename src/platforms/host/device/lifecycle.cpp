// SPDX-License-Identifier: Apache-2.0
// Start, fork and exit. `initialize` reads the settings, reserves addresses and makes the default streams; after a failure it can
// be called again with better settings.
#include "contract.h"

#include <cstdlib>

#include "devices.h"
#include "fault.h"
#include "memory.h"
#include "streams.h"
#include "workers.h"

namespace flagos::host {
namespace {

std::atomic<int32_t> devices{0};

// Queued work is dropped; what is running gets a moment to end before static objects are destroyed under it.
void at_exit() {
  if (ready) workers().close(std::chrono::seconds(1));
}

flagos_status start() {
  Settings settings;
  if (const auto status = read_settings(&settings); status != FLAGOS_SUCCESS) return status;
  if (const auto status = reserve_memory(settings); status != FLAGOS_SUCCESS) return status;
  set_devices(settings);
  make_default_streams(settings.devices);
  install_fault_handler(address_space());
  std::atexit(&at_exit);
  devices = settings.devices;
  return FLAGOS_SUCCESS;
}

}  // namespace

flagos_status initialize() { return start_once(&start); }

flagos_status device_count(int32_t* count) {
  *count = devices;
  if (*count > 0) return FLAGOS_SUCCESS;
  Settings settings;
  const auto status = read_settings(&settings);
  if (status == FLAGOS_SUCCESS) *count = settings.devices;
  return status;
}

}  // namespace flagos::host
