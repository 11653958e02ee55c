// SPDX-License-Identifier: Apache-2.0
// The contract table.
#include "device.h"
#include "lifecycle.h"
#include "memory.h"
#include "stream.h"

namespace flagos::cuda {
namespace {

constexpr flagos_platform table{
    .magic = FLAGOS_PLATFORM_MAGIC,
    .abi_major = FLAGOS_PLATFORM_ABI_MAJOR,
    .abi_minor = FLAGOS_PLATFORM_ABI_MINOR,
    .id = "cuda",
    .sdk_version = TORCH_FL_SDK_VERSION,
    .struct_size = sizeof(flagos_platform),
    .capabilities = 0,
    .initialize = &initialize,
    .last_error = &last_error,
    .device_count = &device_count,
    .get_device = guarded<&get_device>,
    .set_device = guarded<&set_device>,
    .device_properties = guarded<&device_properties>,
    .synchronize_device = guarded<&synchronize_device>,
    .can_access_peer = guarded<&can_access_peer>,
    .malloc = guarded<&malloc_device>,
    .free = guarded<&free_device>,
    .memory_info = guarded<&memory_info>,
    .pointer_info = guarded<&pointer_info>,
    .malloc_pinned = guarded<&malloc_pinned>,
    .free_pinned = guarded<&free_pinned>,
    .host_offset = nullptr,
    .memcpy_async = guarded<&memcpy_async>,
    .memset_async = guarded<&memset_async>,
    .stream_priority_range = guarded<&stream_priority_range>,
    .stream_create = guarded<&stream_create>,
    .stream_destroy = guarded<&stream_destroy>,
    .stream_query = guarded<&stream_query>,
    .stream_synchronize = guarded<&stream_synchronize>,
    .stream_wait_event = guarded<&stream_wait_event>,
    // Work of the CPU on a stream may not call CUDA, and freeing a tensor in it would.
    .launch_host_function = nullptr,
    .event_create = guarded<&event_create>,
    .event_destroy = guarded<&event_destroy>,
    .event_record = guarded<&event_record>,
    .event_query = guarded<&event_query>,
    .event_synchronize = guarded<&event_synchronize>,
    .event_elapsed = guarded<&event_elapsed>,
};

}  // namespace
}  // namespace flagos::cuda

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  return &flagos::cuda::table;
}
