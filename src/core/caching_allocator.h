// SPDX-License-Identifier: Apache-2.0
// caching_allocator.h: the cache of one device. Blocks belong to the stream they were asked for on and go back to that
// stream's pool at once when freed: work queued there before the free runs before work of the next owner.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <flagos_torch_device.h>

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "stream.h"

namespace torch_fl {

struct Segment;

struct Block {
  enum class State : uint8_t {
    allocated,
    pending,  // freed by its owner, still used on another stream (record_stream)
    recent,   // free, not merged with its neighbours yet
    merged    // free, and so is neither neighbour
  };
  char* address = nullptr;
  size_t size = 0;       // bytes, a multiple of 512
  size_t requested = 0;  // bytes asked for
  c10::DeviceIndex device = 0;
  c10::StreamId stream = 0;
  bool small = false;
  State state = State::allocated;
  Segment* segment = nullptr;
  Block* previous = nullptr;  // neighbours in the segment
  Block* next = nullptr;
  std::set<c10::StreamId>* used_on = nullptr;  // record_stream; null almost always
  int pending_events = 0;

  bool split() const { return previous || next; }
};

struct Segment {
  Block* first = nullptr;
  size_t size = 0;
  c10::StreamId stream = 0;
  bool small = false;
  bool direct = false;  // not cached: goes back to the platform when freed
};

class DeviceCache {
 public:
  explicit DeviceCache(c10::DeviceIndex index) : device_(index) {}

  Block* allocate(size_t bytes, c10::StreamId stream);  // throws OutOfMemoryError
  void free(Block* block);
  void record_stream(Block* block, c10::StreamId stream);
  void empty_cache();

  void set_fraction(double fraction);  // of the device's memory, at most
  double fraction();
  c10::CachingDeviceAllocator::DeviceStats stats();
  void reset_peak();
  void reset_accumulated();
  std::vector<SegmentSnapshot> snapshot();

 private:
  using Stats = c10::CachingDeviceAllocator::DeviceStats;
  using StatArray = c10::CachingAllocator::StatArray;
  struct BySize {
    bool operator()(const Block* a, const Block* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  struct Pool {
    std::set<Block*, BySize> merged;
    std::vector<std::vector<Block*>> recent;  // small blocks by size / 512, last freed first used
    std::vector<size_t> touched;              // the sizes that have something in `recent`
  };

  Pool& pool(c10::StreamId stream, bool small);
  Block* find(Pool& pool, size_t size, bool small);
  Block* cut(Pool& pool, Block* block, size_t size);
  Block* grow(size_t size, c10::StreamId stream, bool small);
  Block* new_segment(size_t bytes, c10::StreamId stream, bool small, bool direct);
  void make_available(Pool& pool, Block* block);
  void consolidate(Pool& pool);
  void finish_free(Block* block);
  void enter_free(Block* block, Block::State state);
  void leave_free(Block* block);
  void process_events();
  void wait_unlocked(c10::StreamId stream);
  bool release_cached();
  void release(Segment* segment);
  void count(StatArray Stats::*what, bool small, int64_t amount);
  [[noreturn]] void out_of_memory(size_t bytes);

  const c10::DeviceIndex device_;
  std::mutex mutex_;
  std::map<std::pair<c10::StreamId, bool>, Pool> pools_;
  std::pair<c10::StreamId, Pool*> last_pool_[2] = {{-1, nullptr}, {-1, nullptr}};  // of large and small blocks
  std::deque<std::pair<flagos_event, Block*>> events_;
  std::set<Segment*> segments_;
  double fraction_ = 1;
  size_t limit_ = SIZE_MAX;  // bytes reserved at most
  Stats stats_;
};

}  // namespace torch_fl
