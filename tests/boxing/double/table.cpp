// SPDX-License-Identifier: Apache-2.0
// The contract table. Work is done when a call returns, so streams have nothing to wait for.
#include <flagos_platform.h>
#include <sys/sysinfo.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pinned.h"
#include "sentence.h"

struct flagos_event_s {};

namespace torch_fl::double_ {
namespace {

using flagos::fail;

template <typename... Arguments>
flagos_status done(Arguments...) {
  return FLAGOS_SUCCESS;
}

template <typename Value, Value value, typename... Before>
flagos_status give(Before..., Value* out) {
  *out = value;
  return FLAGOS_SUCCESS;
}

flagos_status set_device(int32_t device) {
  return device == 0 ? FLAGOS_SUCCESS : fail(FLAGOS_ERROR_INVALID_ARGUMENT, "the double has one device");
}

flagos_status device_properties(int32_t, flagos_device_properties* out) {
  *out = {};
  std::snprintf(out->name, sizeof out->name, "CPU double");
  struct sysinfo info {};
  sysinfo(&info);
  out->total_memory = info.totalram * info.mem_unit;
  out->multi_processor_count = out->warp_size = 1;
  out->flags = FLAGOS_DEVICE_INTEGRATED;
  return FLAGOS_SUCCESS;
}

flagos_status memory_info(int32_t, size_t* free_bytes, size_t* total) {
  struct sysinfo info {};
  sysinfo(&info);
  *free_bytes = info.freeram * info.mem_unit;
  *total = info.totalram * info.mem_unit;
  return FLAGOS_SUCCESS;
}

flagos_status allocate(size_t bytes, void** out) {
  *out = bytes ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
  return *out || !bytes ? FLAGOS_SUCCESS : fail(FLAGOS_ERROR_OUT_OF_MEMORY, "out of memory");
}
flagos_status release(void* address) {
  std::free(address);
  return FLAGOS_SUCCESS;
}

flagos_status pointer_info(const void* address, flagos_pointer_info* out) {
  *out = {FLAGOS_MEMORY_UNKNOWN, -1, nullptr, 0};
  if (is_pinned(address, &out->base, &out->size)) out->kind = FLAGOS_MEMORY_PINNED;
  return FLAGOS_SUCCESS;
}

flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind, flagos_stream) {
  std::memmove(to, from, bytes);
  return FLAGOS_SUCCESS;
}
flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream) {
  std::memset(to, byte, bytes);
  return FLAGOS_SUCCESS;
}

flagos_status stream_priority_range(int32_t* least, int32_t* greatest) {
  *least = 0;
  *greatest = -1;
  return FLAGOS_SUCCESS;
}

flagos_status event_create(int32_t, int32_t, flagos_event* out) {
  *out = new flagos_event_s();
  return FLAGOS_SUCCESS;
}
flagos_status event_destroy(flagos_event event) {
  delete event;
  return FLAGOS_SUCCESS;
}

constexpr flagos_platform table{
    .magic = FLAGOS_PLATFORM_MAGIC,
    .abi_major = FLAGOS_PLATFORM_ABI_MAJOR,
    .abi_minor = FLAGOS_PLATFORM_ABI_MINOR,
    .id = "double",
    .sdk_version = "",
    .struct_size = sizeof(flagos_platform),
    .capabilities = 0,
    .initialize = &done<>,
    .last_error = &flagos::last_error,
    .device_count = &give<int32_t, 1>,
    .get_device = &give<int32_t, 0>,
    .set_device = &set_device,
    .device_properties = &device_properties,
    .synchronize_device = &done<int32_t>,
    .can_access_peer = &give<int32_t, 0, int32_t, int32_t>,
    .malloc = [](int32_t, size_t bytes, void** out) { return allocate(bytes, out); },
    .free = [](int32_t, void* address) { return release(address); },
    .memory_info = &memory_info,
    .pointer_info = &pointer_info,
    .malloc_pinned = &allocate,
    .free_pinned = &release,
    .host_offset = nullptr,
    .memcpy_async = &memcpy_async,
    .memset_async = &memset_async,
    .stream_priority_range = &stream_priority_range,
    .stream_create = &give<flagos_stream, nullptr, int32_t, int32_t>,
    .stream_destroy = &done<flagos_stream>,
    .stream_query = &done<int32_t, flagos_stream>,
    .stream_synchronize = &done<int32_t, flagos_stream>,
    .stream_wait_event = &done<int32_t, flagos_stream, flagos_event>,
    .launch_host_function = nullptr,
    .event_create = &event_create,
    .event_destroy = &event_destroy,
    .event_record = &done<flagos_event, int32_t, flagos_stream>,
    .event_query = &done<flagos_event>,
    .event_synchronize = &done<flagos_event>,
    .event_elapsed = &give<double, 0.0, flagos_event, flagos_event>,
};

}  // namespace
}  // namespace torch_fl::double_

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  return &torch_fl::double_::table;
}
