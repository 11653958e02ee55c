// SPDX-License-Identifier: Apache-2.0
#include "guard.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "address_space.h"
#include "sentence.h"

namespace flagos::host {
namespace {

constexpr unsigned char kCanary = 0xC5;

std::mutex mutex;
std::vector<GuardRecord*>& unused_records() {
  static auto* instance = new std::vector<GuardRecord*>();
  return *instance;
}
std::atomic<GuardRecord*> all_records{nullptr};  // only ever grows at its head

GuardRecord* get_record() {
  std::lock_guard lock(mutex);
  auto& unused = unused_records();
  if (!unused.empty()) {
    GuardRecord* record = unused.back();
    unused.pop_back();
    return record;
  }
  auto* record = new GuardRecord();
  record->next = all_records.load();
  all_records.store(record);
  return record;
}

bool intact(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char byte) { return static_cast<unsigned char>(byte) == kCanary; });
}

}  // namespace

GuardRecord* open_guarded(char* pages, size_t charged, size_t bytes) {
  if (mprotect(pages, charged, PROT_READ | PROT_WRITE) != 0) return nullptr;
  GuardRecord* record = get_record();
  char* user = pages + charged - round_up(bytes, kGuardAlignment);
  std::memset(pages, kCanary, user - pages);
  std::memset(user + bytes, kCanary, pages + charged - (user + bytes));
  record->pages = pages;
  record->charged = charged;
  record->user = user;
  record->bytes = bytes;
  record->state = GuardRecord::kLive;
  return record;
}

flagos_status close_guarded(GuardRecord* record, const void* address) {
  char* const pages = record->pages;
  char* const end = pages + record->charged;
  char* const user = record->user;
  const size_t bytes = record->bytes;
  const bool before_intact = intact(pages, user);
  const bool after_intact = intact(user + bytes, end);
  record->state = GuardRecord::kFreed;
  // A new mapping, not mprotect: it gives the pages back, and merges with its neighbours into one again.
  mmap(pages, record->charged, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (before_intact && after_intact) return FLAGOS_SUCCESS;
  return fail(FLAGOS_ERROR_ASYNC, "a kernel wrote %s of the block at %p of %zu bytes (found when it was freed)",
              after_intact ? "before the start" : "past the end", address, bytes);
}

void forget(GuardRecord* record) {
  record->state = GuardRecord::kUnused;
  std::lock_guard lock(mutex);
  unused_records().push_back(record);
}

const GuardRecord* find_guarded(const char* address) noexcept {
  const size_t page = page_size();
  for (const GuardRecord* record = all_records.load(); record; record = record->next) {
    const char* pages = record->pages;
    if (record->state != GuardRecord::kUnused && address >= pages - page && address < pages + record->charged + page)
      return record;
  }
  return nullptr;
}

}  // namespace flagos::host
