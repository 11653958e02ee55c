// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace mupti {
namespace {

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0, records = 0, most_records = 0;

  bool has_room(size_t bytes) const { return data && used + bytes <= size && (most_records == 0 || records < most_records); }
};

struct State {
  std::mutex mutex;
  MUpti_BuffersCallbackRequestFunc request = nullptr;
  MUpti_BuffersCallbackCompleteFunc complete = nullptr;
  Buffer buffer;
  size_t dropped = 0;
  size_t written = 0;  // since the last flush
};

State& state() {
  static auto* instance = new State();  // streams may still end while the process exits
  return *instance;
}

// FLAGOS_EMULATION_MUPTI_RECORDS=n: so many records fit between two flushes, as on a card whose own buffer is full.
size_t most_records() {
  const char* text = std::getenv("FLAGOS_EMULATION_MUPTI_RECORDS");
  return text ? std::strtoull(text, nullptr, 10) : SIZE_MAX;
}

Buffer requested(const State& state) {
  Buffer fresh;
  if (state.request) state.request(&fresh.data, &fresh.size, &fresh.most_records);
  return fresh;
}

void give_back(const State& state, const Buffer& buffer) {
  if (buffer.data) state.complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
}

}  // namespace

MUptiResult set_callbacks(MUpti_BuffersCallbackRequestFunc request, MUpti_BuffersCallbackCompleteFunc complete) {
  if (!request || !complete) return MUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard lock(state().mutex);
  state().request = request;
  state().complete = complete;
  return MUPTI_SUCCESS;
}

void write_record(const void* record, MUpti_ActivityKind kind) {
  auto& all = state();
  const size_t bytes = record_bytes(kind);
  Buffer full;
  {
    std::lock_guard lock(all.mutex);
    if (++all.written > most_records()) {
      ++all.dropped;
      return;
    }
    if (!all.buffer.has_room(bytes)) full = std::exchange(all.buffer, requested(all));
    if (all.buffer.has_room(bytes)) {
      std::memcpy(all.buffer.data + all.buffer.used, record, bytes);
      all.buffer.used += bytes;
      ++all.buffer.records;
    } else {
      ++all.dropped;
    }
  }
  give_back(all, full);
}

void flush() {
  auto& all = state();
  Buffer last;
  {
    std::lock_guard lock(all.mutex);
    last = std::exchange(all.buffer, {});
    all.written = 0;
  }
  give_back(all, last);
}

size_t take_dropped() {
  std::lock_guard lock(state().mutex);
  return std::exchange(state().dropped, 0);
}

}  // namespace mupti
