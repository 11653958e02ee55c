// SPDX-License-Identifier: Apache-2.0
#include "pinned.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "target_pinned.h"
#include "torch_device.h"

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

// The names of some fields have changed between PyTorch's minors: what both sides have is copied.
template <class From, class To>
void copy_stats(const From& from, To& to) {
  if constexpr (requires { from.active_requests, to.active_requests; }) to.active_requests = from.active_requests;
  if constexpr (requires { from.active_bytes, to.active_bytes; }) to.active_bytes = from.active_bytes;
  if constexpr (requires { from.allocations, to.allocations; }) to.allocations = from.allocations;
  to.allocated_bytes = from.allocated_bytes;
  to.num_host_alloc = from.num_host_alloc;
  to.num_host_free = from.num_host_free;
}

class PinnedAllocator final : public at::HostAllocator {
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
      stats_.allocations.increase(1);
      stats_.allocated_bytes.increase(size);
      ++stats_.num_host_alloc;
    }
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(size);
    return {block->address, block, &free_pinned, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

  void free(PinnedBlock* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(block->size);
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

  bool record_event(void*, void* context, c10::Stream stream) override {
    hold(static_cast<PinnedBlock*>(context), stream);
    return true;
  }

  void empty_cache() override {
    if (!is_initialized()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    collect();
    for (auto& [size, blocks] : ready_) {
      for (PinnedBlock* block : blocks) {
        platform().free_pinned(block->address);
        stats_.allocations.decrease(1);
        stats_.allocated_bytes.decrease(size);
        ++stats_.num_host_free;
        delete block;
      }
      blocks.clear();
    }
  }

  PinnedStats stats() {
    std::lock_guard<std::mutex> lock(mutex_);
    return stats_;
  }

  at::HostStats get_stats() override {
    at::HostStats result;
    copy_stats(stats(), result);
    return result;
  }

  void reset_accumulated_stats() override {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto* stat : all_stats()) stat->reset_accumulated();
    stats_.num_host_alloc = stats_.num_host_free = 0;
  }

  void reset_peak_stats() override {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto* stat : all_stats()) stat->reset_peak();
  }

 private:
  PinnedBlock* take(size_t size) {
    auto& same = ready_[size];
    if (same.empty()) return nullptr;
    PinnedBlock* block = same.back();
    same.pop_back();
    return block;
  }

  std::array<PinnedStats::Stat*, 4> all_stats() {
    return {&stats_.active_requests, &stats_.active_bytes, &stats_.allocations, &stats_.allocated_bytes};
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
  PinnedStats stats_;
};

PinnedAllocator& instance() {
  static auto* made = new PinnedAllocator();  // outlives every tensor
  return *made;
}

void free_pinned(void* context) {
  if (!in_bad_fork()) instance().free(static_cast<PinnedBlock*>(context));
}

}  // namespace

at::HostAllocator& pinned_allocator() {
  static at::HostAllocator* chosen = torch_device() ? make_target_pinned_allocator() : &instance();
  return *chosen;
}

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

void register_pinned_allocator() { at::setHostAllocator(kDevice, &pinned_allocator()); }

PinnedStats pinned_stats() {
  if (!torch_device()) return instance().stats();
  PinnedStats result;
  copy_stats(pinned_allocator().get_stats(), result);
  return result;
}

void reset_pinned_peaks() { pinned_allocator().reset_peak_stats(); }
void reset_pinned_totals() { pinned_allocator().reset_accumulated_stats(); }
void empty_pinned_cache() { pinned_allocator().empty_cache(); }

}  // namespace torch_fl
