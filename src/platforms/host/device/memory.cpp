// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <sys/mman.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "devices.h"
#include "sentence.h"
#include "extents.h"
#include "guard.h"

namespace flagos::host {
namespace {

AddressSpace reserved;  // constant after initialize

struct Block {
  size_t start, span;  // the part of the device's addresses that it takes, guard pages included
  size_t bytes;        // as asked
  size_t charged;      // pages of memory, in bytes
  GuardRecord* guard;  // null without guard pages
};

// The memory of one device.  Offsets count from the start of the device's part of the address space.
class Arena {
 public:
  Arena(int32_t device, size_t limit) : device_(device), limit_(limit), extents_(reserved.per_device) {}

  flagos_status allocate(size_t bytes, void** out);
  flagos_status release(void* address);
  size_t available() {
    std::lock_guard lock(mutex_);
    return limit_ - used_;
  }
  size_t limit() const { return limit_; }
  bool find(const void* address, flagos_pointer_info* out);

 private:
  using Blocks = std::map<size_t, Block>;

  char* kernel(size_t offset) const { return reserved.kernel_base + device_ * reserved.per_device + offset; }
  char* address(size_t offset) const { return reserved.device_base + device_ * reserved.per_device + offset; }
  size_t offset(const void* address) const { return static_cast<const char*>(address) - this->address(0); }
  std::optional<size_t> take(size_t span);
  flagos_status out_of_memory(size_t bytes, const char* why) const;
  flagos_status wrong_address(const void* address);
  Blocks::iterator containing(size_t offset);

  const int32_t device_;
  const size_t limit_;
  std::mutex mutex_;
  // All guarded by mutex_.
  size_t used_ = 0;
  Extents extents_;
  Blocks blocks_;              // by the offset of their first byte
  std::deque<Block> resting_;  // freed blocks that stay inaccessible for a while (guard pages only)
  size_t resting_bytes_ = 0;
};

std::vector<std::unique_ptr<Arena>>& arenas() {
  static auto* instance = new std::vector<std::unique_ptr<Arena>>();  // usable while the process exits
  return *instance;
}

flagos_status Arena::out_of_memory(size_t bytes, const char* why) const {
  const size_t free = limit_ - used_;
  return fail(FLAGOS_ERROR_OUT_OF_MEMORY,
              "flagos:%d is out of memory. Asked for %zu bytes (%.2f MiB), %zu bytes (%.2f MiB) are free of %.2f MiB%s",
              device_, bytes, double(bytes) / kMiB, free, double(free) / kMiB, double(limit_) / kMiB, why);
}

std::optional<size_t> Arena::take(size_t span) {
  constexpr size_t kMostResting = 16384;
  const auto wake_oldest = [this] {
    const Block& oldest = resting_.front();
    extents_.give(oldest.start, oldest.span);
    forget(oldest.guard);
    resting_bytes_ -= oldest.span;
    resting_.pop_front();
  };
  while (resting_.size() > kMostResting || resting_bytes_ > reserved.per_device / 2) wake_oldest();
  auto start = extents_.take(span);
  while (!start && !resting_.empty()) {
    wake_oldest();
    start = extents_.take(span);
  }
  return start;
}

flagos_status Arena::allocate(size_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return FLAGOS_SUCCESS;
  std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_) return out_of_memory(bytes, " (FLAGOS_HOST_MEMORY sets the size)");
  const size_t charged = round_up(bytes, page_size());  // fits as well: the limit is a whole number of pages
  const size_t span = charged + (reserved.guard ? 2 * page_size() : 0);
  const auto start = take(span);
  if (!start) return out_of_memory(bytes, ", but in no part that is large enough");
  Block block{*start, span, bytes, charged, nullptr};
  size_t first = *start;
  if (reserved.guard) {
    block.guard = open_guarded(kernel(*start) + page_size(), charged, bytes);
    if (!block.guard) {
      extents_.give(*start, span);
      return out_of_memory(bytes, ", but the system has no more mappings for guard pages (vm.max_map_count)");
    }
    first = block.guard->user.load() - kernel(0);
  }
  blocks_.emplace(first, block);
  used_ += charged;
  *out = address(first);
  return FLAGOS_SUCCESS;
}

Arena::Blocks::iterator Arena::containing(size_t offset) {
  auto next = blocks_.upper_bound(offset);
  if (next == blocks_.begin()) return blocks_.end();
  const auto block = std::prev(next);
  return offset - block->first < block->second.bytes ? block : blocks_.end();
}

flagos_status Arena::wrong_address(const void* address) {
  if (const auto block = containing(offset(address)); block != blocks_.end())
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p is inside the block at %p of %zu bytes, not its start",
                address, this->address(block->first), block->second.bytes);
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p is no block of flagos:%d, or was freed before", address,
              device_);
}

flagos_status Arena::release(void* address) {
  Block block;
  {
    std::lock_guard lock(mutex_);
    const auto found = blocks_.find(offset(address));
    if (found == blocks_.end()) return wrong_address(address);
    block = found->second;
    blocks_.erase(found);
  }
  flagos_status status = FLAGOS_SUCCESS;
  if (block.guard)
    status = close_guarded(block.guard, address);
  else
    madvise(kernel(block.start), block.span, MADV_DONTNEED);
  std::lock_guard lock(mutex_);
  used_ -= block.charged;
  if (block.guard) {
    resting_.push_back(block);
    resting_bytes_ += block.span;
  } else {
    extents_.give(block.start, block.span);
  }
  return status;
}

bool Arena::find(const void* address, flagos_pointer_info* out) {
  std::lock_guard lock(mutex_);
  const auto block = containing(offset(address));
  if (block == blocks_.end()) return false;
  *out = {FLAGOS_MEMORY_DEVICE, device_, this->address(block->first), block->second.bytes};
  return true;
}

}  // namespace

flagos_status reserve_memory(const Settings& settings) {
  if (const auto status = reserved.reserve(settings); status != FLAGOS_SUCCESS) return status;
  for (int32_t device = 0; device < settings.devices; ++device)
    arenas().push_back(std::make_unique<Arena>(device, settings.memory));
  return FLAGOS_SUCCESS;
}

const AddressSpace& address_space() { return reserved; }

flagos_status malloc_device(int32_t device, size_t bytes, void** out) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  return arenas()[device]->allocate(bytes, out);
}

flagos_status free_device(int32_t device, void* address) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  if (!address) return FLAGOS_SUCCESS;
  const int32_t owner = reserved.device_of(address);
  if (owner == device) return arenas()[device]->release(address);
  if (owner < 0) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p is not device memory", address);
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "free: %p belongs to flagos:%d, not to flagos:%d", address, owner, device);
}

flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  *free_bytes = arenas()[device]->available();
  *total_bytes = arenas()[device]->limit();
  return FLAGOS_SUCCESS;
}

flagos_status host_offset(ptrdiff_t* bytes) {
  *bytes = reserved.offset();
  return FLAGOS_SUCCESS;
}

bool find_device_block(const void* address, flagos_pointer_info* out) {
  const int32_t device = reserved.device_of(address);
  return device >= 0 && arenas()[device]->find(address, out);
}

}  // namespace flagos::host
