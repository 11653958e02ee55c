// SPDX-License-Identifier: Apache-2.0
// Guard pages: each block ends at an inaccessible page of the kernel range and has another one before it.
//
// Bytes that rounding leaves unused on either side hold a canary, checked when the block is freed.  The record of a
// block is also read by the fault handler, hence the atomics and that records are never deleted.
#pragma once

#include <atomic>
#include <cstddef>

#include "flagos_platform.h"

namespace flagos::host {

inline constexpr size_t kGuardAlignment = 16;  // of blocks: more would hide small overruns in the slack

struct GuardRecord {
  enum State { kUnused, kLive, kFreed };
  std::atomic<int> state{kUnused};
  std::atomic<char*> pages{nullptr};  // kernel addresses; guard pages lie before and behind [pages, pages + charged)
  std::atomic<size_t> charged{0};
  std::atomic<char*> user{nullptr};
  std::atomic<size_t> bytes{0};
  GuardRecord* next = nullptr;  // constant once the record is on the list
};

// Opens `charged` bytes at `pages` for a block of `bytes`; null when the system refuses.
GuardRecord* open_guarded(char* pages, size_t charged, size_t bytes);

// Makes the block inaccessible and gives its pages back.  FLAGOS_ERROR_ASYNC, with `address` named, if a canary has
// changed.
flagos_status close_guarded(GuardRecord* record, const void* address);

// The addresses may be used again: the record no longer speaks for them.
void forget(GuardRecord* record);

// The block whose pages or guard pages hold a kernel address, or null.  Async-signal-safe.
const GuardRecord* find_guarded(const char* address) noexcept;

}  // namespace flagos::host
