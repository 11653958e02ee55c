// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <algorithm>
#include <array>
#include <vector>

#include "devices.h"

namespace flagos::host {
namespace {

// Accepted, without effect: every stream that has work gets a thread at once, so there is no queue that a priority
// could reorder, and raising a thread's priority needs rights that users do not have.
constexpr int32_t kLeast = 0, kGreatest = -2;

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> side;   // guarded by mutex
  std::vector<std::shared_ptr<Stream>> dying;  // destroyed with work in them; guarded by mutex
};

// One a device, null past the last; constant after initialize, never destroyed.
std::array<std::shared_ptr<Stream>*, kMostDevices> standard{};

Registry& registry() {
  static auto* instance = new Registry();  // outlives the workers
  return *instance;
}

}  // namespace

void make_default_streams(int32_t devices) {
  for (int32_t device = 0; device < devices; ++device)
    standard[device] = new auto(std::make_shared<Stream>(device, default_stream_kind));
}

Stream* resolve(int32_t device, flagos_stream handle) {
  if (handle) return reinterpret_cast<Stream*>(handle);
  if (static_cast<uint32_t>(device) < standard.size() && standard[device]) return standard[device]->get();
  check_device(device);
  return nullptr;
}

flagos_status stream_priority_range(int32_t* least, int32_t* greatest) {
  *least = kLeast;
  *greatest = kGreatest;
  return FLAGOS_SUCCESS;
}

flagos_status stream_create(int32_t device, int32_t /*priority*/, flagos_stream* out) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  auto stream = std::make_shared<Stream>(device, Stream::Kind::kSide);
  *out = reinterpret_cast<flagos_stream>(stream.get());
  std::lock_guard lock(registry().mutex);
  registry().side.push_back(std::move(stream));
  return FLAGOS_SUCCESS;
}

flagos_status stream_destroy(flagos_stream handle) {
  auto& [mutex, side, dying] = registry();
  std::lock_guard lock(mutex);
  std::erase_if(dying, [](const auto& stream) { return stream->idle(); });
  const auto found = std::find_if(side.begin(), side.end(), [handle](const auto& stream) {
    return reinterpret_cast<flagos_stream>(stream.get()) == handle;
  });
  if (found == side.end())
    return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "stream_destroy: %s",
                handle ? "not a stream, or destroyed already" : "a default stream lives as long as its device");
  if (!(*found)->idle()) dying.push_back(*found);
  side.erase(found);
  return FLAGOS_SUCCESS;
}

flagos_status stream_query(int32_t device, flagos_stream handle) {
  Stream* stream = resolve(device, handle);
  return stream ? stream->query() : FLAGOS_ERROR_INVALID_ARGUMENT;
}

flagos_status stream_synchronize(int32_t device, flagos_stream handle) {
  Stream* stream = resolve(device, handle);
  return stream ? stream->synchronize() : FLAGOS_ERROR_INVALID_ARGUMENT;
}

flagos_status launch_host_function(int32_t device, flagos_stream handle, flagos_host_function function,
                                   void* argument) {
  if (!function) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "launch_host_function: the function is NULL");
  Stream* stream = resolve(device, handle);
  if (!stream) return FLAGOS_ERROR_INVALID_ARGUMENT;
  stream->submit(Call{function, argument});
  return FLAGOS_SUCCESS;
}

flagos_status synchronize_device(int32_t device) {
  if (const auto status = check_device(device); status != FLAGOS_SUCCESS) return status;
  std::vector<std::shared_ptr<Stream>> streams{*standard[device]};
  {
    std::lock_guard lock(registry().mutex);
    for (const auto* some : {&registry().dying, &registry().side})
      std::copy_if(some->begin(), some->end(), std::back_inserter(streams),
                   [device](const auto& stream) { return stream->device() == device; });
  }
  // All are waited for, also after an error; an error beyond the first stays for the next call.
  flagos_status result = FLAGOS_SUCCESS;
  for (const auto& stream : streams)
    if (!stream->idle() && result == FLAGOS_SUCCESS)
      result = stream->synchronize();
    else if (!stream->idle())
      stream->settle();
  return result;
}

}  // namespace flagos::host
