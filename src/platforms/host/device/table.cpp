// SPDX-License-Identifier: Apache-2.0
// The contract table: the one symbol that this library exports.
#include <exception>

#include "devices.h"
#include "error.h"
#include "event.h"
#include "lifecycle.h"
#include "memory.h"
#include "pinned.h"
#include "settings.h"
#include "streams.h"
#include "transfer.h"

namespace flagos::host {
namespace {

// A function of the contract: refuses before initialize and after a fork, lets no C++ exception out.  The interpreter
// may end a thread inside a host function (pthread_exit), which is not an exception and passes through.
template <auto function>
struct Slot;
template <typename... Arguments, flagos_status (*function)(Arguments...)>
struct Slot<function> {
  static flagos_status call(Arguments... arguments) {
    if (!ready.load(std::memory_order_acquire)) return not_ready();
    try {
      return function(arguments...);
    } catch (const std::exception& error) {
      return fail(FLAGOS_ERROR_SYSTEM, "the host platform failed: %s", error.what());
    }
  }
};

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
      .get_device = &Slot<&get_device>::call,
      .set_device = &Slot<&set_device>::call,
      .device_properties = &Slot<&device_properties>::call,
      .synchronize_device = &Slot<&synchronize_device>::call,
      .can_access_peer = &Slot<&can_access_peer>::call,
      .malloc = &Slot<&malloc_device>::call,
      .free = &Slot<&free_device>::call,
      .memory_info = &Slot<&memory_info>::call,
      .pointer_info = &Slot<&pointer_info>::call,
      .malloc_pinned = &Slot<&malloc_pinned>::call,
      .free_pinned = &Slot<&free_pinned>::call,
      .host_offset = &Slot<&host_offset>::call,
      .memcpy_async = &Slot<&memcpy_async>::call,
      .memset_async = &Slot<&memset_async>::call,
      .stream_priority_range = &Slot<&stream_priority_range>::call,
      .stream_create = &Slot<&stream_create>::call,
      .stream_destroy = &Slot<&stream_destroy>::call,
      .stream_query = &Slot<&stream_query>::call,
      .stream_synchronize = &Slot<&stream_synchronize>::call,
      .stream_wait_event = &Slot<&stream_wait_event>::call,
      .launch_host_function = &Slot<&launch_host_function>::call,
      .event_create = &Slot<&event_create>::call,
      .event_destroy = &Slot<&event_destroy>::call,
      .event_record = &Slot<&event_record>::call,
      .event_query = &Slot<&event_query>::call,
      .event_synchronize = &Slot<&event_synchronize>::call,
      .event_elapsed = &Slot<&event_elapsed>::call,
  };
}

}  // namespace
}  // namespace flagos::host

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::host::make_table();
  return &table;
}
