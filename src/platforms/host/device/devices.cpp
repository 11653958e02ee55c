// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "current_device.h"
#include "sentence.h"

namespace flagos::host {
namespace {

Settings settings;  // constant after initialize

// Processors that this process may use, which in a container are fewer than the machine has.
int32_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
}

// The system's answer in bytes; 0 where it does not know.
uint64_t cache_size(int name) { return static_cast<uint64_t>(std::max(0L, sysconf(name))); }

int32_t clock_rate_khz() {
  int32_t rate = 0;
  if (FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re")) {
    if (std::fscanf(file, "%d", &rate) != 1) rate = 0;
    std::fclose(file);
  }
  return rate;
}

}  // namespace

void set_devices(const Settings& chosen) { settings = chosen; }

flagos_status check_device(int32_t device) {
  if (device >= 0 && device < settings.devices) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT,
              "there is no device flagos:%d: FLAGOS_HOST_DEVICES gives flagos:0 to flagos:%d", device,
              settings.devices - 1);
}

flagos_status get_device(int32_t* device) {
  *device = current_device;
  return FLAGOS_SUCCESS;
}

flagos_status set_device(int32_t device) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  current_device = device;
  return FLAGOS_SUCCESS;
}

flagos_status device_properties(int32_t device, flagos_device_properties* out) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  flagos_device_properties properties{};
  std::strcpy(properties.name, "FlagOS host device");
  properties.total_memory = settings.memory;
  properties.major = 1;
  properties.multi_processor_count = processors();
  // A processor runs one thread of one program at a time, and what it shares with itself is its first-level cache.
  properties.warp_size = 1;
  properties.max_threads_per_block = 1;
  properties.max_threads_per_multi_processor = 1;
  properties.shared_memory_per_block = cache_size(_SC_LEVEL1_DCACHE_SIZE);
  properties.shared_memory_per_block_optin = properties.shared_memory_per_block;
  properties.clock_rate_khz = clock_rate_khz();
  // The cache that all processors share: the third level where there is one.
  properties.l2_cache_size = std::max(cache_size(_SC_LEVEL2_CACHE_SIZE), cache_size(_SC_LEVEL3_CACHE_SIZE));
  properties.flags = FLAGOS_DEVICE_INTEGRATED | FLAGOS_DEVICE_EMULATED;
  // The same in each process: a UUID of version 8 that spells "flagos", "host" and the index.
  const uint8_t uuid[16] = {'f', 'l', 'a', 'g', 'o', 's', 0x80, 0, 0x80, 0, 'h', 'o', 's', 't', 0, uint8_t(device)};
  std::memcpy(properties.uuid, uuid, sizeof(uuid));
  *out = properties;
  return FLAGOS_SUCCESS;
}

flagos_status can_access_peer(int32_t device, int32_t peer, int32_t* yes) {
  for (int32_t index : {device, peer})
    if (const auto status = check_device(index); status != FLAGOS_SUCCESS) return status;
  *yes = device != peer;
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::host
