// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <flagos_emulation.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "on_device.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {
namespace {

// The runtime does not tell a stream's device, and puts an event on streams of its own device only.
struct Register {
  std::shared_mutex mutex;
  std::unordered_map<flagos_stream, int32_t> devices;  // guarded by mutex
};
Register& known() {
  static auto* instance = new Register();  // usable while the process exits
  return *instance;
}

// A failure of the emulated card's own functions, with its sentence.
flagos_status emulated(flagos_status status) {
  if (status == FLAGOS_SUCCESS) return status;
  return fail(status, "%s", flagos_emulation_last_error ? flagos_emulation_last_error() : "the emulated card refused");
}

}  // namespace

int32_t device_of(flagos_stream stream, int32_t device) {
  if (!stream) return device;
  auto& [mutex, devices] = known();
  const std::shared_lock lock(mutex);
  const auto found = devices.find(stream);
  return found == devices.end() ? device : found->second;
}

flagos_status stream_priority_range(int32_t* least, int32_t* greatest) {
  return check(runtime::stream_priority_range(least, greatest), "read the range of stream priorities");
}

flagos_status stream_create(int32_t device, int32_t priority, flagos_stream* out) {
  *out = nullptr;
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  int32_t least = 0, greatest = 0;
  if (const auto status = stream_priority_range(&least, &greatest); status != FLAGOS_SUCCESS) return status;
  runtime::Stream stream = nullptr;
  const auto status = check(runtime::create_stream(&stream, runtime::kStreamFlags, std::clamp(priority, greatest, least)),
                            "make a stream on flagos:%d", device);
  if (status != FLAGOS_SUCCESS) return status;
  *out = reinterpret_cast<flagos_stream>(stream);
  const std::lock_guard lock(known().mutex);
  known().devices[*out] = device;
  return FLAGOS_SUCCESS;
}

flagos_status stream_destroy(flagos_stream stream) {
  if (!stream) return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "stream_destroy: a default stream lives as long as its device");
  {
    const std::lock_guard lock(known().mutex);
    if (known().devices.erase(stream) == 0)
      return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "stream_destroy: not a stream, or destroyed already");
  }
  return check(runtime::destroy_stream(native(stream)), "destroy a stream");
}

flagos_status stream_query(int32_t device, flagos_stream stream) {
  const OnDevice scope(device_of(stream, device));
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  const runtime::Answer answer = runtime::query_stream(native(stream));
  if (answer.error == runtime::kNotReady) {
    runtime::forget_last_error();  // an answer, not an error
    return fail(FLAGOS_ERROR_NOT_READY, "work is pending on a stream of flagos:%d", device);
  }
  return check(answer, "look at a stream of flagos:%d", device);
}

flagos_status stream_synchronize(int32_t device, flagos_stream stream) {
  const OnDevice scope(device_of(stream, device));
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(runtime::synchronize_stream(native(stream)), "finish the work of a stream of flagos:%d", device);
}

flagos_status launch_host_function(int32_t device, flagos_stream stream, flagos_host_function function, void* argument) {
  return emulated(flagos_emulation_launch_host_function(device_of(stream, device), stream, function, argument));
}

flagos_status host_offset(ptrdiff_t* bytes) { return emulated(flagos_emulation_host_offset(bytes)); }

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
