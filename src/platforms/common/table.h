// SPDX-License-Identifier: Apache-2.0
// The table of the contract's functions, the one thing that a platform's library exports (flagos_platform_entry).
#pragma once

#include "contract.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

// The optional functions are null: a platform that has them puts `guarded<&host_offset>` there.
inline flagos_platform make_table(uint32_t capabilities) {
  return {
      .magic = FLAGOS_PLATFORM_MAGIC,
      .abi_major = FLAGOS_PLATFORM_ABI_MAJOR,
      .abi_minor = FLAGOS_PLATFORM_ABI_MINOR,
      .id = TORCH_FL_PLATFORM_ID,
      .sdk_version = TORCH_FL_SDK_VERSION,
      .struct_size = sizeof(flagos_platform),
      .capabilities = capabilities,
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
      .launch_host_function = nullptr,
      .event_create = guarded<&event_create>,
      .event_destroy = guarded<&event_destroy>,
      .event_record = guarded<&event_record>,
      .event_query = guarded<&event_query>,
      .event_synchronize = guarded<&event_synchronize>,
      .event_elapsed = guarded<&event_elapsed>,
  };
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
