// SPDX-License-Identifier: Apache-2.0
// The emulated runtime. Devices, memory, streams and events are those of tests/emulation/base.
#include <skeleton_runtime.h>

#include <cstdio>
#include <exception>

#include "activity.h"
#include "devices.h"
#include "sentence.h"
#include "contract.h"
#include "handles.h"
#include "memory.h"
#include "streams.h"

// Launches of kernels under the names that a profiler of the vendor's would show.
const char* const emulation::launch_call_name = "skeletonLaunch";
const char* const emulation::compiled_launch_call_name = "skeletonLaunchCompiled";

namespace {

namespace host = flagos::host;

skeletonStatus translate(flagos_status status) {
  switch (status) {
    case FLAGOS_SUCCESS: return skeletonOk;
    case FLAGOS_ERROR_INVALID_ARGUMENT:
    case FLAGOS_ERROR_NOT_SUPPORTED: return skeletonInvalid;
    case FLAGOS_ERROR_OUT_OF_MEMORY: return skeletonOutOfMemory;
    case FLAGOS_ERROR_NOT_READY: return skeletonBusy;
    case FLAGOS_ERROR_NO_DEVICE: return skeletonNoDevice;
    case FLAGOS_ERROR_ASYNC: return skeletonWorkFailed;
    default: return skeletonBroken;
  }
}

// The devices start on first use.
template <typename Body>
skeletonStatus call(Body&& body) {
  try {
    if (const auto status = emulation::start(); status != FLAGOS_SUCCESS) return translate(status);
    return translate(body());
  } catch (const std::exception& error) {
    return translate(flagos::fail(FLAGOS_ERROR_SYSTEM, "the emulated card failed: %s", error.what()));
  }
}

// Hands the base's stream behind a handle to `body`.
template <typename Body>
skeletonStatus on_stream(int device, skeletonStream handle, Body&& body) {
  return call([&] {
    if (const auto status = host::check_device(device); status != FLAGOS_SUCCESS) return status;
    const auto stream = emulation::find_stream(device, handle);
    if (!stream || stream->device != device)
      return flagos::fail(FLAGOS_ERROR_INVALID_ARGUMENT, "not a stream of device %d, or destroyed already", device);
    return body(stream->inner);
  });
}

flagos_event inner(skeletonEvent event) { return reinterpret_cast<flagos_event>(event); }

}  // namespace

extern "C" {

const char* skeletonLastError() { return flagos::last_error(); }

skeletonStatus skeletonDeviceCount(int* count) { return translate(host::device_count(count)); }
skeletonStatus skeletonGetDevice(int* device) {
  return call([&] { return host::get_device(device); });
}
skeletonStatus skeletonSetDevice(int device) {
  return call([&] { return host::set_device(device); });
}
skeletonStatus skeletonDeviceName(int device, char* name, size_t size) {
  return call([&] {
    const auto status = host::check_device(device);
    if (status == FLAGOS_SUCCESS) std::snprintf(name, size, "Skeleton (emulated)");
    return status;
  });
}
skeletonStatus skeletonSynchronize(int device) {
  return call([&] { return host::synchronize_device(device); });
}

skeletonStatus skeletonMalloc(int device, size_t bytes, void** out) {
  return call([&] { return host::malloc_device(device, bytes, out); });
}
skeletonStatus skeletonFree(int device, void* address) {
  return call([&] { return host::free_device(device, address); });
}
skeletonStatus skeletonMallocHost(size_t bytes, void** out) {
  return call([&] { return host::malloc_pinned(bytes, out); });
}
skeletonStatus skeletonFreeHost(void* address) {
  return call([&] { return host::free_pinned(address); });
}
skeletonStatus skeletonMemoryInfo(int device, size_t* free_bytes, size_t* total_bytes) {
  return call([&] { return host::memory_info(device, free_bytes, total_bytes); });
}
skeletonStatus skeletonPointer(const void* address, skeletonKind* kind, int* device, void** base, size_t* bytes) {
  return call([&] {
    flagos_pointer_info info;
    const auto status = host::pointer_info(address, &info);
    *kind = static_cast<skeletonKind>(info.kind);
    *device = info.device;
    *base = info.base;
    *bytes = info.size;
    return status;
  });
}

skeletonStatus skeletonCopy(int device, void* to, const void* from, size_t bytes, skeletonDirection way, skeletonStream stream) {
  return on_stream(device, stream, [&](flagos_stream queue) {
    return host::memcpy_async(to, from, bytes, static_cast<flagos_copy_kind>(way), queue);
  });
}
skeletonStatus skeletonFill(int device, void* to, int byte, size_t bytes, skeletonStream stream) {
  return on_stream(device, stream, [&](flagos_stream queue) { return host::memset_async(to, byte, bytes, queue); });
}

skeletonStatus skeletonStreamCreate(int device, skeletonStream* out) {
  return call([&] {
    const auto status = host::check_device(device);
    if (status == FLAGOS_SUCCESS) *out = static_cast<skeletonStream>(emulation::create_stream(device, 0, false));
    return status;
  });
}
skeletonStatus skeletonStreamDestroy(skeletonStream stream) {
  return call([&] {
    if (emulation::destroy_stream(stream)) return FLAGOS_SUCCESS;
    return flagos::fail(FLAGOS_ERROR_INVALID_ARGUMENT, "not a stream, or destroyed already");
  });
}
skeletonStatus skeletonStreamQuery(int device, skeletonStream stream) {
  return on_stream(device, stream, [&](flagos_stream queue) { return host::stream_query(device, queue); });
}
skeletonStatus skeletonStreamSynchronize(int device, skeletonStream stream) {
  return on_stream(device, stream, [&](flagos_stream queue) { return host::stream_synchronize(device, queue); });
}
skeletonStatus skeletonStreamWait(int device, skeletonStream stream, skeletonEvent event) {
  return on_stream(device, stream, [&](flagos_stream queue) { return host::stream_wait_event(device, queue, inner(event)); });
}

skeletonStatus skeletonEventCreate(int device, int timing, skeletonEvent* out) {
  return call([&] { return host::event_create(device, timing, reinterpret_cast<flagos_event*>(out)); });
}
skeletonStatus skeletonEventDestroy(skeletonEvent event) {
  return call([&] { return host::event_destroy(inner(event)); });
}
skeletonStatus skeletonEventRecord(skeletonEvent event, int device, skeletonStream stream) {
  return on_stream(device, stream, [&](flagos_stream queue) { return host::event_record(inner(event), device, queue); });
}
skeletonStatus skeletonEventQuery(skeletonEvent event) {
  return call([&] { return host::event_query(inner(event)); });
}
skeletonStatus skeletonEventSynchronize(skeletonEvent event) {
  return call([&] { return host::event_synchronize(inner(event)); });
}
skeletonStatus skeletonEventElapsed(skeletonEvent start, skeletonEvent end, double* milliseconds) {
  return call([&] { return host::event_elapsed(inner(start), inner(end), milliseconds); });
}
}
