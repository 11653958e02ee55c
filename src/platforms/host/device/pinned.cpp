// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory, and which kind of memory an address is.
#include "contract.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "sentence.h"
#include "memory.h"

namespace flagos::host {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<const char*, size_t> blocks;  // start -> bytes as asked; guarded by mutex
};

Registry& registry() {
  static auto* instance = new Registry();  // usable while the process exits
  return *instance;
}

}  // namespace

flagos_status malloc_pinned(size_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return FLAGOS_SUCCESS;
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return fail(FLAGOS_ERROR_OUT_OF_MEMORY, "no pinned host memory: asked for %zu bytes: %s", bytes,
                std::strerror(errno));
  // Only a wish: nothing here transfers by DMA, and ordinary users may lock little (ulimit -l).
  static_cast<void>(mlock(block, bytes));
  std::lock_guard lock(registry().mutex);
  registry().blocks.emplace(static_cast<char*>(block), bytes);
  *out = block;
  return FLAGOS_SUCCESS;
}

flagos_status free_pinned(void* address) {
  if (!address) return FLAGOS_SUCCESS;
  size_t bytes;
  {
    auto& [mutex, blocks] = registry();
    std::lock_guard lock(mutex);
    const auto block = blocks.find(static_cast<char*>(address));
    if (block == blocks.end())
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free_pinned: %p is no pinned block, or was freed before", address);
    bytes = block->second;
    blocks.erase(block);
  }
  munmap(address, bytes);
  return FLAGOS_SUCCESS;
}

flagos_status pointer_info(const void* address, flagos_pointer_info* out) {
  *out = {FLAGOS_MEMORY_UNKNOWN, -1, nullptr, 0};
  if (find_device_block(address, out)) return FLAGOS_SUCCESS;
  auto& [mutex, blocks] = registry();
  std::lock_guard lock(mutex);
  const auto* byte = static_cast<const char*>(address);
  const auto next = blocks.upper_bound(byte);
  if (next == blocks.begin()) return FLAGOS_SUCCESS;
  const auto& [start, bytes] = *std::prev(next);
  if (static_cast<size_t>(byte - start) < bytes) *out = {FLAGOS_MEMORY_PINNED, -1, const_cast<char*>(start), bytes};
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::host
