// SPDX-License-Identifier: Apache-2.0
#include "caching_allocator.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace torch_fl {
namespace {

using c10::CachingAllocator::format_size;
using c10::CachingAllocator::StatType;

// The sizes of torch.cuda's allocator, so that memory statistics look alike.
constexpr size_t kGranule = 512;
constexpr size_t kSmallLimit = size_t{1} << 20;     // above: the large pool
constexpr size_t kSmallSegment = size_t{2} << 20;   // what a small pool grows by
constexpr size_t kLargeSegment = size_t{20} << 20;  // what a large pool grows by ...
constexpr size_t kLargeLimit = size_t{10} << 20;    // ... for blocks below this size
constexpr size_t kLargeGranule = size_t{2} << 20;   // larger segments are a multiple of this

size_t rounded(size_t bytes, size_t granule) { return (bytes + granule - 1) / granule * granule; }

size_t segment_size(size_t size) {
  if (size <= kSmallLimit) return kSmallSegment;
  return size < kLargeLimit ? kLargeSegment : rounded(size, kLargeGranule);
}

bool caching() {
  static const bool on = [] {
    const char* value = std::getenv("FLAGOS_USE_CACHING_ALLOCATOR");
    return !(value && std::string(value) == "0") && !platform_has(FLAGOS_CAP_NO_CACHING);
  }();
  return on;
}

}  // namespace

Block* DeviceCache::allocate(size_t bytes, c10::StreamId stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  process_events();
  // Uncached blocks keep their exact size: a checking platform guards the byte after it.
  const size_t size = caching() ? std::max(kGranule, rounded(bytes, kGranule)) : bytes;
  const bool small = size <= kSmallLimit;
  Block* block = caching() ? find(pool(stream, small), size, small) : nullptr;
  if (!block) block = grow(size, stream, small);
  if (!block) out_of_memory(bytes);
  block->state = Block::State::allocated;
  block->requested = bytes;
  count(&Stats::allocation, small, 1);
  count(&Stats::active, small, 1);
  count(&Stats::allocated_bytes, small, static_cast<int64_t>(block->size));
  count(&Stats::active_bytes, small, static_cast<int64_t>(block->size));
  count(&Stats::requested_bytes, small, static_cast<int64_t>(bytes));
  return block;
}

void DeviceCache::free(Block* block) {
  if (block->segment->direct && block->stream >= 0) {  // memory of queued work is freed in stream order
    const c10::Stream stream(c10::Stream::UNSAFE, c10::Device(kDevice, device_), block->stream);
    platform().stream_synchronize(device_, native(stream));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  count(&Stats::allocation, block->small, -1);
  count(&Stats::allocated_bytes, block->small, -static_cast<int64_t>(block->size));
  count(&Stats::requested_bytes, block->small, -static_cast<int64_t>(block->requested));
  if (C10_LIKELY(!block->used_on)) return finish_free(block);
  // Other streams may still use it: it becomes free when each has passed an event recorded now.
  block->state = Block::State::pending;
  for (c10::StreamId id : *block->used_on) {
    flagos_event event = nullptr;
    check(platform().event_create(device_, 0, &event), "make an event");
    const c10::Stream stream(c10::Stream::UNSAFE, c10::Device(kDevice, device_), id);
    check(platform().event_record(event, stream.device_index(), native(stream)), "record an event");
    events_.emplace_back(event, block);
    ++block->pending_events;
  }
  delete std::exchange(block->used_on, nullptr);
}

void DeviceCache::record_stream(Block* block, c10::StreamId stream) {
  if (stream == block->stream) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!block->used_on) block->used_on = new std::set<c10::StreamId>();
  block->used_on->insert(stream);
}

void DeviceCache::finish_free(Block* block) {
  count(&Stats::active, block->small, -1);
  count(&Stats::active_bytes, block->small, -static_cast<int64_t>(block->size));
  if (block->segment->direct) return release(block->segment);
  Pool& home = pool(block->stream, block->small);
  if (!block->small || !block->split()) return make_available(home, block);
  auto& same = home.recent[block->size / kGranule];
  if (same.empty()) home.touched.push_back(block->size / kGranule);
  same.push_back(block);
  enter_free(block, Block::State::recent);
}

void DeviceCache::enter_free(Block* block, Block::State state) {
  block->state = state;
  if (!block->split()) return;
  count(&Stats::inactive_split, block->small, 1);
  count(&Stats::inactive_split_bytes, block->small, static_cast<int64_t>(block->size));
}

void DeviceCache::leave_free(Block* block) {
  if (!block->split()) return;
  count(&Stats::inactive_split, block->small, -1);
  count(&Stats::inactive_split_bytes, block->small, -static_cast<int64_t>(block->size));
}

DeviceCache::Pool& DeviceCache::pool(c10::StreamId stream, bool small) {
  auto& [id, last] = last_pool_[small];
  if (id == stream && last) return *last;
  Pool& found = pools_[{stream, small}];  // a map's elements stay where they are
  if (small && found.recent.empty()) found.recent.resize(kSmallLimit / kGranule + 1);
  id = stream;
  last = &found;
  return found;
}

Block* DeviceCache::find(Pool& pool, size_t size, bool small) {
  if (small) {
    auto& same = pool.recent[size / kGranule];
    if (!same.empty()) {
      Block* block = same.back();
      same.pop_back();
      leave_free(block);
      return block;
    }
  }
  Block key;
  key.size = size;
  auto best = pool.merged.lower_bound(&key);
  if (best == pool.merged.end() && !pool.touched.empty()) {
    consolidate(pool);
    best = pool.merged.lower_bound(&key);
  }
  if (best == pool.merged.end()) return nullptr;
  Block* block = *best;
  pool.merged.erase(best);
  leave_free(block);
  return cut(pool, block, size);
}

// Gives the part of `block` past `size` back to the pool where it is worth keeping.
Block* DeviceCache::cut(Pool& pool, Block* block, size_t size) {
  const size_t rest = block->size - size;
  if (rest < kGranule || (!block->small && rest <= kSmallLimit)) return block;
  auto* tail = new Block(*block);
  tail->address += size;
  tail->size = rest;
  tail->previous = block;
  if (tail->next) tail->next->previous = tail;
  block->next = tail;
  block->size = size;
  enter_free(tail, Block::State::merged);
  pool.merged.insert(tail);
  return block;
}

// Small blocks are reused unmerged while their size repeats; the price of merging is paid when nothing fits.
void DeviceCache::consolidate(Pool& pool) {
  for (size_t slot : pool.touched) {
    for (Block* block : std::exchange(pool.recent[slot], {})) {
      leave_free(block);
      make_available(pool, block);
    }
  }
  pool.touched.clear();
}

// Joins a block with merged neighbours and enters it in the pool.
void DeviceCache::make_available(Pool& pool, Block* block) {
  auto take_out = [&](Block* neighbour) {
    if (!neighbour || neighbour->state != Block::State::merged) return false;
    leave_free(neighbour);
    pool.merged.erase(neighbour);
    return true;
  };
  auto append = [](Block* left, Block* right) {
    left->size += right->size;
    left->next = right->next;
    if (right->next) right->next->previous = left;
    delete right;
  };
  if (take_out(block->next)) append(block, block->next);
  if (Block* left = block->previous; take_out(left)) {
    append(left, block);
    block = left;
  }
  enter_free(block, Block::State::merged);
  pool.merged.insert(block);
}

Block* DeviceCache::grow(size_t size, c10::StreamId stream, bool small) {
  const bool direct = !caching();
  const size_t bytes = direct ? size : segment_size(size);
  Block* block = new_segment(bytes, stream, small, direct);
  if (!block) {
    // Cached memory goes back to the platform first, then the memory that other streams still hold.
    ++stats_.num_alloc_retries;
    wait_unlocked(stream);
    process_events();
    if (release_cached()) block = new_segment(bytes, stream, small, direct);
    if (!block && bytes > size) block = new_segment(rounded(size, kLargeGranule), stream, small, direct);
  }
  return block && !direct ? cut(pool(stream, small), block, size) : block;
}

Block* DeviceCache::new_segment(size_t bytes, c10::StreamId stream, bool small, bool direct) {
  const auto reserved = static_cast<size_t>(stats_.reserved_bytes[static_cast<size_t>(StatType::AGGREGATE)].current);
  if (reserved > limit_ || bytes > limit_ - reserved) return nullptr;
  void* address = nullptr;
  const flagos_status status = platform().malloc(device_, bytes, &address);
  if (status == FLAGOS_ERROR_OUT_OF_MEMORY) return nullptr;
  check(status, "allocate device memory");
  ++stats_.num_device_alloc;
  auto* block = new Block();
  block->address = static_cast<char*>(address);
  block->size = bytes;
  block->device = device_;
  block->stream = stream;
  block->small = small;
  block->segment = new Segment{block, bytes, stream, small, direct};
  segments_.insert(block->segment);
  count(&Stats::segment, small, 1);
  count(&Stats::reserved_bytes, small, static_cast<int64_t>(bytes));
  return block;
}

void DeviceCache::release(Segment* segment) {
  segments_.erase(segment);
  count(&Stats::segment, segment->small, -1);
  count(&Stats::reserved_bytes, segment->small, -static_cast<int64_t>(segment->size));
  ++stats_.num_device_free;
  Block* block = segment->first;
  const flagos_status status = platform().free(device_, block->address);
  delete block;
  delete segment;
  if (C10_LIKELY(status == FLAGOS_SUCCESS || status == FLAGOS_ERROR_SYSTEM)) return;  // SYSTEM: the process is ending
  // This runs in destructors, which cannot throw; and memory that a kernel has overwritten is no state to go on from.
  std::fprintf(stderr, "flagos: %s\n", platform().last_error());
  std::abort();
}

// Queued kernels allocate and free too: whoever waited for them with the lock held would wait for ever. Memory asked for
// by queued work (a negative id) does not wait at all: another stream may in turn be waiting for that work.
void DeviceCache::wait_unlocked(c10::StreamId stream) {
  if (stream < 0) return;
  ++stats_.num_sync_all_streams;
  mutex_.unlock();
  const flagos_status status = platform().synchronize_device(device_);
  mutex_.lock();
  check(status, "synchronise the device");
}

// Only pools whose stream has nothing queued: a free block may still be in use there, ahead of its next owner.
bool DeviceCache::release_cached() {
  bool any = false;
  for (auto& [key, pool] : pools_) {
    const c10::Stream stream(c10::Stream::UNSAFE, c10::Device(kDevice, device_), std::max<c10::StreamId>(key.first, 0));
    if (key.first >= 0 && platform().stream_query(device_, native(stream)) == FLAGOS_ERROR_NOT_READY) continue;
    consolidate(pool);
    for (auto it = pool.merged.begin(); it != pool.merged.end();) {
      Block* block = *it;
      if (block->split()) {
        ++it;
        continue;
      }
      it = pool.merged.erase(it);
      release(block->segment);
      any = true;
    }
  }
  return any;
}

void DeviceCache::process_events() {
  while (!events_.empty()) {
    auto [event, block] = events_.front();
    if (platform().event_query(event) == FLAGOS_ERROR_NOT_READY) return;
    events_.pop_front();
    platform().event_destroy(event);
    if (--block->pending_events == 0) finish_free(block);
  }
}

void DeviceCache::empty_cache() {
  std::lock_guard<std::mutex> lock(mutex_);
  wait_unlocked(0);
  process_events();
  release_cached();
}

double DeviceCache::fraction() {
  std::lock_guard<std::mutex> lock(mutex_);
  return fraction_;
}

void DeviceCache::set_fraction(double fraction) {
  TORCH_CHECK_VALUE(fraction >= 0 && fraction <= 1, "flagos: the memory fraction must be in [0, 1], got ", fraction);
  const auto total = static_cast<double>(memory_info(device_).second);
  std::lock_guard<std::mutex> lock(mutex_);
  fraction_ = fraction;
  limit_ = fraction == 1 ? SIZE_MAX : static_cast<size_t>(total * fraction);
}

void DeviceCache::out_of_memory(size_t bytes) {
  ++stats_.num_ooms;
  size_t free_bytes = 0, total = 0;
  platform().memory_info(device_, &free_bytes, &total);
  const auto aggregate = static_cast<size_t>(StatType::AGGREGATE);
  const auto allocated = static_cast<size_t>(stats_.allocated_bytes[aggregate].current);
  const auto reserved = static_cast<size_t>(stats_.reserved_bytes[aggregate].current);
  c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(bytes), allocated, reserved, c10::Device(kDevice, device_));
  const std::string allowed = limit_ == SIZE_MAX ? "" : "; this process may use " + format_size(limit_);
  TORCH_CHECK_WITH(OutOfMemoryError, false, "flagos out of memory. flagos:", static_cast<int>(device_), " was asked for ",
                   format_size(bytes), " and has ", format_size(free_bytes), " free of ", format_size(total), allowed, "; ",
                   format_size(allocated), " are held by tensors and ", format_size(reserved - allocated),
                   " are cached. Use smaller batches or free tensors; torch.flagos.memory_summary() shows who holds what.");
}

void DeviceCache::count(StatArray Stats::*what, bool small, int64_t amount) {
  auto& stats = stats_.*what;
  for (auto type : {StatType::AGGREGATE, small ? StatType::SMALL_POOL : StatType::LARGE_POOL}) {
    auto& stat = stats[static_cast<size_t>(type)];
    amount >= 0 ? stat.increase(static_cast<size_t>(amount)) : stat.decrease(static_cast<size_t>(-amount));
  }
}

}  // namespace torch_fl
