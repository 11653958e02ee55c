// SPDX-License-Identifier: Apache-2.0
// The contract table: the one symbol that this library exports.
#include "devices.h"
#include "event.h"
#include "lifecycle.h"
#include "memory.h"
#include "pinned.h"
#include "settings.h"
#include "streams.h"
#include "transfer.h"

namespace flagos::host {
namespace {

// Guard pages need every block to come from here.  The core copies the table before initialize.
uint32_t capabilities() {
  Settings settings;  // what is wrong with them is told by initialize
  const bool known = read_settings(&settings) == FLAGOS_SUCCESS;
  return FLAGOS_CAP_HOST_FUNCTION | (known && settings.copies ? 0 : FLAGOS_CAP_HOST_ALIAS) |
         (known && settings.guard ? FLAGOS_CAP_NO_CACHING : 0);
}

flagos_platform make_table() {
  return {
      .magic = FLAGOS_PLATFORM_MAGIC,
      .abi_major = FLAGOS_PLATFORM_ABI_MAJOR,
      .abi_minor = FLAGOS_PLATFORM_ABI_MINOR,
      .id = "host",
      .sdk_version = TORCH_FL_SDK_VERSION,
      .struct_size = sizeof(flagos_platform),
      .capabilities = capabilities(),
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
      .host_offset = guarded<&host_offset>,
      .memcpy_async = guarded<&memcpy_async>,
      .memset_async = guarded<&memset_async>,
      .stream_priority_range = guarded<&stream_priority_range>,
      .stream_create = guarded<&stream_create>,
      .stream_destroy = guarded<&stream_destroy>,
      .stream_query = guarded<&stream_query>,
      .stream_synchronize = guarded<&stream_synchronize>,
      .stream_wait_event = guarded<&stream_wait_event>,
      .launch_host_function = guarded<&launch_host_function>,
      .event_create = guarded<&event_create>,
      .event_destroy = guarded<&event_destroy>,
      .event_record = guarded<&event_record>,
      .event_query = guarded<&event_query>,
      .event_synchronize = guarded<&event_synchronize>,
      .event_elapsed = guarded<&event_elapsed>,
  };
}

}  // namespace
}  // namespace flagos::host

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::host::make_table();
  return &table;
}
