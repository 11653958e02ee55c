// SPDX-License-Identifier: Apache-2.0
#include "address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sentence.h"

namespace flagos::host {
namespace {

char* reserve_range(size_t bytes, int protection) {
  void* range = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : static_cast<char*>(range);
}

// Under `ulimit -v` leave half of the addresses to the rest of the process.
size_t largest_share(int32_t devices) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kLargestMemory;
  return std::min<size_t>(kLargestMemory, limit.rlim_cur / 2 / (2 * static_cast<size_t>(devices)));
}

}  // namespace

size_t page_size() noexcept {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

flagos_status AddressSpace::reserve(const Settings& settings) {
  // Guard pages take addresses, not memory.
  const size_t least = settings.guard ? std::min(settings.memory * 2, kLargestMemory) : settings.memory;
  size_t share = std::max(least, largest_share(settings.devices));
  for (;; share = std::max(least, share / 2)) {
    share = round_up(share, page_size());
    const size_t bytes = share * settings.devices;
    char* device = reserve_range(bytes, PROT_NONE);
    char* kernel = device ? reserve_range(bytes, settings.guard ? PROT_NONE : PROT_READ | PROT_WRITE) : nullptr;
    if (kernel) {
      device_base = device;
      kernel_base = kernel;
      per_device = share;
      devices = settings.devices;
      guard = settings.guard;
      return FLAGOS_SUCCESS;
    }
    const int error = errno;
    if (device) munmap(device, bytes);
    if (share <= least)
      return fail(FLAGOS_ERROR_SYSTEM,
                  "cannot reserve 2 x %zu MiB of addresses for %d host devices (%s): lower FLAGOS_HOST_MEMORY or "
                  "FLAGOS_HOST_DEVICES, or raise the limit (ulimit -v, vm.overcommit_memory)",
                  bytes / kMiB, settings.devices, std::strerror(error));
  }
}

}  // namespace flagos::host
