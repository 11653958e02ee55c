// SPDX-License-Identifier: Apache-2.0
// The functions of the contract (flagos_platform.h says what each does), which a platform defines in its own namespace:
// TORCH_FL_PLATFORM_NAMESPACE is the platform's id.
#pragma once

#include "life.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

flagos_status initialize();
flagos_status device_count(int32_t* count);

flagos_status get_device(int32_t* device);
flagos_status set_device(int32_t device);
flagos_status device_properties(int32_t device, flagos_device_properties* out);
flagos_status synchronize_device(int32_t device);
flagos_status can_access_peer(int32_t device, int32_t peer, int32_t* yes);

flagos_status malloc_device(int32_t device, size_t bytes, void** out);
flagos_status free_device(int32_t device, void* address);
flagos_status memory_info(int32_t device, size_t* free_bytes, size_t* total_bytes);
flagos_status pointer_info(const void* address, flagos_pointer_info* out);
flagos_status malloc_pinned(size_t bytes, void** out);
flagos_status free_pinned(void* address);
flagos_status host_offset(ptrdiff_t* bytes);  // optional

flagos_status memcpy_async(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream);
flagos_status memset_async(void* to, int32_t byte, size_t bytes, flagos_stream stream);

flagos_status stream_priority_range(int32_t* least, int32_t* greatest);
flagos_status stream_create(int32_t device, int32_t priority, flagos_stream* out);
flagos_status stream_destroy(flagos_stream stream);
flagos_status stream_query(int32_t device, flagos_stream stream);
flagos_status stream_synchronize(int32_t device, flagos_stream stream);
flagos_status stream_wait_event(int32_t device, flagos_stream stream, flagos_event event);
flagos_status launch_host_function(int32_t device, flagos_stream stream, flagos_host_function function, void* argument);  // optional

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out);
flagos_status event_destroy(flagos_event event);
flagos_status event_record(flagos_event event, int32_t device, flagos_stream stream);
flagos_status event_query(flagos_event event);
flagos_status event_synchronize(flagos_event event);
flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds);

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
