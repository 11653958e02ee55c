// SPDX-License-Identifier: Apache-2.0
#include "pinned.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <list>
#include <mutex>
#include <vector>

namespace torch_fl {
namespace {

struct PinnedBlock {
  void* address = nullptr;
  size_t size = 0;  // bytes, a power of two
  std::vector<flagos_event> events;
};

constexpr size_t kSmallest = 4096;

size_t rounded(size_t bytes) {
  size_t size = kSmallest;
  while (size < bytes) size *= 2;
  return size;
}

void free_pinned(void* context);

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    ensure_initialized();
    std::lock_guard<std::mutex> lock(mutex_);
    collect();
    const size_t size = rounded(bytes);
    PinnedBlock* block = take(size);
    if (!block) {
      void* address = nullptr;
      check(platform().malloc_pinned(size, &address), "allocate pinned host memory");
      block = new PinnedBlock{address, size, {}};
      allocated_ += size;
      ++calls_;
    }
    active_ += size;
    ++live_;
    return {block->address, block, &free_pinned, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

  void free(PinnedBlock* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    active_ -= block->size;
    --live_;
    if (block->events.empty()) {
      ready_[block->size].push_back(block);
    } else {
      waiting_.push_back(block);
    }
  }

  void hold(PinnedBlock* block, c10::Stream stream) {
    flagos_event event = nullptr;
    check(platform().event_create(stream.device_index(), 0, &event), "make an event");
    check(platform().event_record(event, stream.device_index(), native(stream)), "record an event");
    std::lock_guard<std::mutex> lock(mutex_);
    block->events.push_back(event);
  }

  void empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    collect();
    for (auto& [size, blocks] : ready_) {
      for (PinnedBlock* block : blocks) {
        platform().free_pinned(block->address);
        allocated_ -= size;
        delete block;
      }
      blocks.clear();
    }
  }

  std::map<std::string, int64_t> stats() {
    std::lock_guard<std::mutex> lock(mutex_);
    return {{"allocated_bytes", static_cast<int64_t>(allocated_)},
            {"active_bytes", static_cast<int64_t>(active_)},
            {"active_requests", live_},
            {"num_host_alloc", calls_}};
  }

 private:
  PinnedBlock* take(size_t size) {
    auto& same = ready_[size];
    if (same.empty()) return nullptr;
    PinnedBlock* block = same.back();
    same.pop_back();
    return block;
  }

  // Moves blocks whose streams have passed to the cache.
  void collect() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      auto& events = (*it)->events;
      while (!events.empty() && platform().event_query(events.back()) != FLAGOS_ERROR_NOT_READY) {
        platform().event_destroy(events.back());
        events.pop_back();
      }
      if (!events.empty()) {
        ++it;
        continue;
      }
      ready_[(*it)->size].push_back(*it);
      it = waiting_.erase(it);
    }
  }

  std::mutex mutex_;
  std::map<size_t, std::vector<PinnedBlock*>> ready_;
  std::list<PinnedBlock*> waiting_;
  size_t allocated_ = 0, active_ = 0;
  int64_t live_ = 0, calls_ = 0;
};

PinnedAllocator& instance() {
  static auto* made = new PinnedAllocator();  // outlives every tensor
  return *made;
}

void free_pinned(void* context) {
  if (!in_bad_fork()) instance().free(static_cast<PinnedBlock*>(context));
}

}  // namespace

c10::Allocator* pinned_allocator() { return &instance(); }

bool is_pinned(const void* address) {
  if (!is_initialized() || !address) return false;
  flagos_pointer_info info{};
  return platform().pointer_info(address, &info) == FLAGOS_SUCCESS && info.kind == FLAGOS_MEMORY_PINNED;
}

bool hold_pinned(const c10::DataPtr& data, c10::Stream stream) {
  if (data.get_deleter() != &free_pinned) return false;
  instance().hold(static_cast<PinnedBlock*>(data.get_context()), stream);
  return true;
}

std::map<std::string, int64_t> pinned_stats() { return instance().stats(); }
void empty_pinned_cache() {
  if (is_initialized()) instance().empty();
}

}  // namespace torch_fl
