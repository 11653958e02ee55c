// SPDX-License-Identifier: Apache-2.0
// Device and page-locked memory.
//
// The runtime tells neither where an allocation starts nor how large it is, and knows an address only while its device is
// current; hence a register of what was allocated here.
#include <map>
#include <optional>
#include <shared_mutex>

#include "error.h"
#include "on_device.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {
namespace {

constexpr double kMiB = 1 << 20;
constexpr int32_t kPinned = -1;

struct Block {
  size_t bytes;
  int32_t device;  // kPinned for page-locked memory
};

struct Register {
  std::shared_mutex mutex;
  std::map<const char*, Block> blocks;  // by their start; guarded by mutex
};
Register& known() {
  static auto* instance = new Register();  // usable while the process exits
  return *instance;
}

void add(const void* start, Block block) {
  const std::lock_guard lock(known().mutex);
  known().blocks[static_cast<const char*>(start)] = block;
}

// Takes a block out of the register; nothing unless the address is the start of one of that device.
std::optional<Block> take(const void* start, int32_t device) {
  auto& [mutex, blocks] = known();
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(static_cast<const char*>(start));
  if (found == blocks.end() || found->second.device != device) return std::nullopt;
  const Block block = found->second;
  blocks.erase(found);
  return block;
}

bool find(const void* address, flagos_pointer_info* out) {
  auto& [mutex, blocks] = known();
  const auto* byte = static_cast<const char*>(address);
  const std::shared_lock lock(mutex);
  const auto next = blocks.upper_bound(byte);
  if (next == blocks.begin()) return false;
  const auto& [start, block] = *std::prev(next);
  if (static_cast<size_t>(byte - start) >= block.bytes) return false;
  *out = {block.device == kPinned ? FLAGOS_MEMORY_PINNED : FLAGOS_MEMORY_DEVICE, block.device, const_cast<char*>(start),
          block.bytes};
  return true;
}

// Memory that another library has allocated: each device is asked, since the runtime resolves addresses against the current
// one. Its extent stays unknown (size 0).
flagos_status ask_runtime(const void* address, flagos_pointer_info* out) {
  int32_t count = 0;
  if (const auto status = device_count(&count); status != FLAGOS_SUCCESS) return status;
  for (int32_t device = 0; device < count; ++device) {
    const OnDevice scope(device);
    if (scope.status() != FLAGOS_SUCCESS) return scope.status();
    vendor::PointerAttributes attributes{};
    if (runtime::pointer_attributes(&attributes, address).error != runtime::kSuccess) {
      runtime::forget_last_error();  // not an address of this device, or the host's and unknown to the runtime
      continue;
    }
    if (attributes.type == runtime::kDeviceMemory)
      *out = {FLAGOS_MEMORY_DEVICE, attributes.device, const_cast<void*>(address), 0};
    if (attributes.type == runtime::kPinnedMemory) *out = {FLAGOS_MEMORY_PINNED, -1, const_cast<void*>(address), 0};
    if (out->kind != FLAGOS_MEMORY_UNKNOWN) break;
  }
  return FLAGOS_SUCCESS;
}

}  // namespace

flagos_status malloc_device(int32_t device, size_t bytes, void** out) {
  *out = nullptr;
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS || bytes == 0) return scope.status();
  const runtime::Answer answer = runtime::malloc(out, bytes);
  if (vendor::common(answer.error) == runtime::kOutOfMemory) {
    runtime::forget_last_error();
    size_t free_bytes = 0, total = 0;
    runtime::memory_info(&free_bytes, &total);
    return fail(FLAGOS_ERROR_OUT_OF_MEMORY,
                "flagos:%d is out of memory. Asked for %zu bytes (%.2f MiB), %zu bytes (%.2f MiB) are free of %.2f MiB", device,
                bytes, double(bytes) / kMiB, free_bytes, double(free_bytes) / kMiB, double(total) / kMiB);
  }
  const auto status = check(answer, "allocate %zu bytes on flagos:%d", bytes, device);
  if (status == FLAGOS_SUCCESS) add(*out, {bytes, device});
  return status;
}

flagos_status free_device(int32_t device, void* address) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS || !address) return status;
  const auto block = take(address, device);
  if (!block) {
    flagos_pointer_info info;
    if (!find(address, &info) || info.kind != FLAGOS_MEMORY_DEVICE)
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p is not device memory, or was freed before", address);
    if (info.base != address)
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p is inside the block at %p of %zu bytes, not its start", address,
                  info.base, info.size);
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p belongs to flagos:%d, not to flagos:%d", address, info.device, device);
  }
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(runtime::free(address), "free the block at %p of %zu bytes on flagos:%d", address, block->bytes, device);
}

flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(runtime::memory_info(free_bytes, total_bytes), "read how much memory flagos:%d has", device);
}

flagos_status pointer_info(const void* address, flagos_pointer_info* out) {
  *out = {FLAGOS_MEMORY_UNKNOWN, -1, nullptr, 0};
  if (!address || find(address, out)) return FLAGOS_SUCCESS;
  return ask_runtime(address, out);
}

flagos_status malloc_pinned(size_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return FLAGOS_SUCCESS;
  const auto status = check(runtime::malloc_pinned(out, bytes), "allocate pinned host memory: asked for %zu bytes", bytes);
  if (status == FLAGOS_SUCCESS) add(*out, {bytes, kPinned});
  return status;
}

flagos_status free_pinned(void* address) {
  if (!address) return FLAGOS_SUCCESS;
  if (!take(address, kPinned))
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free_pinned: %p is no pinned block, or was freed before", address);
  return check(runtime::free_pinned(address), "free the pinned block at %p", address);
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
