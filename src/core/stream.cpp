// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <flagos_runtime.h>

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu_threads.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

constexpr size_t kMaxDevices = 128;  // a DeviceIndex is an int8
constexpr size_t kPoolSize = 32;  // streams of one priority on one device, handed out in turn

struct Pool {
  std::vector<c10::StreamId> ids;
  size_t next = 0;
};

struct DeviceStreams {
  std::mutex mutex;
  std::vector<flagos_stream> handles;  // of stream id 1, 2, ...
  std::map<int, Pool> pools;           // by priority
};

DeviceStreams& streams_of(c10::DeviceIndex index) {
  static auto* all = new std::array<DeviceStreams, kMaxDevices>();  // outlives every thread
  return all->at(static_cast<size_t>(index));
}

thread_local std::array<c10::StreamId, kMaxDevices> current{};

c10::Stream make(c10::DeviceIndex index, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kDevice, index), id);
}

c10::Device target_of(c10::DeviceIndex index) { return as_target(c10::Device(kDevice, index)); }

struct Work {
  std::function<void()> function;
  at::ThreadLocalState state;
  int threads;
};

char* keep(const char* text) { return strdup(text); }
void release(char* text) { free(text); }

flagos_host_result run(void* argument) {
  std::unique_ptr<Work> work(static_cast<Work*>(argument));
  try {
    at::ThreadLocalStateGuard guard(work->state);
    use_cpu_threads(work->threads);
    work->function();
    return {FLAGOS_SUCCESS, nullptr, nullptr};
  } catch (const c10::OutOfMemoryError& error) {
    return {FLAGOS_ERROR_OUT_OF_MEMORY, keep(error.what_without_backtrace()), &release};
  } catch (const c10::Error& error) {
    return {FLAGOS_ERROR_ASYNC, keep(error.what_without_backtrace()), &release};
  } catch (const std::exception& error) {
    return {FLAGOS_ERROR_ASYNC, keep(error.what()), &release};
  }
}

}  // namespace

c10::Stream default_stream(c10::DeviceIndex index) {
  if (torch_device()) return as_flagos(target_guard().getDefaultStream(target_of(index)));
  return make(index, 0);
}

c10::Stream current_stream(c10::DeviceIndex index) {
  if (torch_device()) return as_flagos(target_guard().getStream(target_of(index)));
  return make(index, current[static_cast<size_t>(index)]);
}

c10::Stream exchange_stream(c10::Stream stream) {
  const auto index = checked_index(stream.device());
  if (torch_device()) return as_flagos(target_guard().exchangeStream(as_target(stream)));
  return make(index, std::exchange(current[static_cast<size_t>(index)], stream.id()));
}

std::pair<int, int> stream_priority_range() {
  ensure_initialized();
  int32_t least = 0, greatest = 0;
  check(platform().stream_priority_range(&least, &greatest), "read the stream priorities");
  return {least, greatest};
}

c10::Stream pool_stream(c10::DeviceIndex index, int priority) {
  ensure_initialized();
  check_index(index);
  if (torch_device()) return as_flagos(target_guard().getNewStream(target_of(index), priority));
  const auto [least, greatest] = stream_priority_range();
  priority = std::min(least, std::max(greatest, priority));
  auto& streams = streams_of(index);
  std::lock_guard<std::mutex> lock(streams.mutex);
  auto& pool = streams.pools[priority];
  if (pool.ids.size() < kPoolSize) {
    flagos_stream handle = nullptr;
    check(platform().stream_create(index, priority, &handle), "make a stream");
    streams.handles.push_back(handle);
    pool.ids.push_back(static_cast<c10::StreamId>(streams.handles.size()));
    return make(index, pool.ids.back());
  }
  return make(index, pool.ids[pool.next++ % kPoolSize]);
}

void queue_copy(void* to, const void* from, size_t bytes, flagos_copy_kind kind, c10::Stream stream, const char* doing) {
  const OnDevice there(stream.device_index());
  check(platform().memcpy_async(to, from, bytes, kind, native(stream)), doing);
}

flagos_stream current_native_stream(c10::DeviceIndex index) {
  ensure_initialized();
  return native(current_stream(index));
}

flagos_stream native(c10::Stream stream) {
  if (torch_device()) return static_cast<flagos_stream>(torch_device()->stream_handle(as_target(stream)));
  if (stream.id() == 0) return nullptr;
  auto& streams = streams_of(stream.device_index());
  std::lock_guard<std::mutex> lock(streams.mutex);
  const auto position = static_cast<size_t>(stream.id() - 1);
  TORCH_CHECK(position < streams.handles.size(), "flagos: stream id ", stream.id(), " does not exist on ", stream.device());
  return streams.handles[position];
}

int stream_priority(c10::StreamId id, c10::DeviceIndex index) {
  check_index(index);
  if (torch_device()) return torch_device()->stream_priority(as_target(make(index, id)));
  auto& streams = streams_of(index);
  std::lock_guard<std::mutex> lock(streams.mutex);
  for (const auto& [priority, pool] : streams.pools)
    if (std::find(pool.ids.begin(), pool.ids.end(), id) != pool.ids.end()) return priority;
  return 0;  // a default stream
}

void* stream_handle(c10::StreamId id, c10::DeviceIndex index) {
  check_index(index);
  return native(make(index, id));
}

bool stream_idle(c10::Stream stream) {
  const flagos_status status = platform().stream_query(stream.device_index(), native(stream));
  if (status == FLAGOS_ERROR_NOT_READY) return false;
  check(status, "finish the work queued on a stream");
  return true;
}

void synchronize(c10::Stream stream) {
  ensure_initialized();
  check(platform().stream_synchronize(stream.device_index(), native(stream)), "finish the work queued on a stream");
}

void launch(c10::Stream stream, std::function<void()> work) {
  auto* argument = new Work{std::move(work), at::ThreadLocalState(), at::get_num_threads()};
  const flagos_status status = platform().launch_host_function(stream.device_index(), native(stream), &run, argument);
  check(status, "run work on a stream");
}

void order_after(c10::Stream later, c10::Stream earlier) {
  if (later == earlier || stream_idle(earlier)) return;
  flagos_event event = nullptr;
  check(platform().event_create(earlier.device_index(), 0, &event), "make an event");
  std::unique_ptr<flagos_event_s, flagos_status (*)(flagos_event)> owner(event, platform().event_destroy);
  check(platform().event_record(event, earlier.device_index(), native(earlier)), "record an event");
  check(platform().stream_wait_event(later.device_index(), native(later), event), "wait for an event");
}

}  // namespace torch_fl
