// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

#include "current_device.h"
#include "contract.h"

namespace emulation {
namespace {

namespace host = flagos::host;

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const void*, StreamInfo> streams;  // guarded by mutex
  uint32_t last_number = 0;                             // guarded by mutex
};

Registry& registry() {
  static auto* instance = new Registry();  // usable while the process exits
  return *instance;
}

// `later` waits for what is on `earlier` now.
void wait(host::Stream& later, host::Stream& earlier) {
  if (earlier.idle()) return;
  auto record = std::make_shared<host::Record>();
  earlier.record(record);
  later.wait_for(std::move(record));
}

}  // namespace

flagos_status start() {
  if (flagos::ready.load(std::memory_order_acquire)) return FLAGOS_SUCCESS;
  const char* variable = std::getenv("FLAGOS_EMULATION_INLINE");
  host::default_stream_kind =
      variable && std::string_view(variable) == "1" ? host::Stream::Kind::kDefault : host::Stream::Kind::kSide;
  return host::initialize();
}

void* create_stream(int32_t device, int32_t priority, bool blocking) {
  flagos_stream inner = nullptr;
  if (host::stream_create(device, priority, &inner) != FLAGOS_SUCCESS) return nullptr;
  auto& [mutex, streams, last_number] = registry();
  const std::lock_guard lock(mutex);
  streams[inner] = {device, inner, blocking, priority, ++last_number};
  return inner;
}

bool destroy_stream(const void* handle) {
  auto& [mutex, streams, last_number] = registry();
  const std::lock_guard lock(mutex);
  const auto found = streams.find(handle);
  if (found == streams.end()) return false;
  host::stream_destroy(found->second.inner);
  streams.erase(found);
  return true;
}

std::optional<StreamInfo> find_stream(const void* handle) { return find_stream(host::current_device, handle); }

std::optional<StreamInfo> find_stream(int32_t device, const void* handle) {
  if (!handle) return StreamInfo{device, nullptr, true, 0, 0};
  auto& [mutex, streams, last_number] = registry();
  const std::shared_lock lock(mutex);
  const auto found = streams.find(handle);
  if (found == streams.end()) return std::nullopt;
  return found->second;
}

host::Stream& ordered(const StreamInfo& stream) {
  host::Stream& target = *host::resolve(stream.device, stream.inner);
  if (stream.inner) {
    if (stream.blocking) wait(target, *host::resolve(stream.device, nullptr));
    return target;
  }
  auto& [mutex, streams, last_number] = registry();
  const std::shared_lock lock(mutex);
  for (const auto& [handle, other] : streams)
    if (other.blocking && other.device == stream.device) wait(target, *host::resolve(other.device, other.inner));
  return target;
}

}  // namespace emulation
