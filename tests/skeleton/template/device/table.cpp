// SPDX-License-Identifier: Apache-2.0
// The contract table: the one symbol that this library exports.
#include <flagos_emulation.h>

#include "runtime.h"

namespace flagos::skeleton {
namespace {

// The emulated card's functions keep their own sentence.
flagos_status emulated(flagos_status status) {
  return status == FLAGOS_SUCCESS ? status : fail(status, "the emulated card refused: %s", skeletonLastError());
}
flagos_status host_offset(ptrdiff_t* bytes) { return emulated(flagos_emulation_host_offset(bytes)); }
flagos_status launch(int32_t device, flagos_stream stream, flagos_host_function function, void* argument) {
  return emulated(flagos_emulation_launch_host_function(device, stream, function, argument));
}

flagos_platform make_table() {
  return {
      .magic = FLAGOS_PLATFORM_MAGIC,
      .abi_major = FLAGOS_PLATFORM_ABI_MAJOR,
      .abi_minor = FLAGOS_PLATFORM_ABI_MINOR,
      .id = "skeleton",
      .sdk_version = TORCH_FL_SDK_VERSION,
      .struct_size = sizeof(flagos_platform),
      .capabilities = flagos_emulation_capabilities ? flagos_emulation_capabilities() : 0,
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
      .host_offset = flagos_emulation_host_offset ? guarded<&host_offset> : nullptr,
      .memcpy_async = guarded<&memcpy_async>,
      .memset_async = guarded<&memset_async>,
      .stream_priority_range = guarded<&stream_priority_range>,
      .stream_create = guarded<&stream_create>,
      .stream_destroy = guarded<&stream_destroy>,
      .stream_query = guarded<&stream_query>,
      .stream_synchronize = guarded<&stream_synchronize>,
      .stream_wait_event = guarded<&stream_wait_event>,
      .launch_host_function = flagos_emulation_launch_host_function ? guarded<&launch> : nullptr,
      .event_create = guarded<&event_create>,
      .event_destroy = guarded<&event_destroy>,
      .event_record = guarded<&event_record>,
      .event_query = guarded<&event_query>,
      .event_synchronize = guarded<&event_synchronize>,
      .event_elapsed = guarded<&event_elapsed>,
  };
}

}  // namespace
}  // namespace flagos::skeleton

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::skeleton::make_table();
  return &table;
}
