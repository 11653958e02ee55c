// SPDX-License-Identifier: Apache-2.0
// The contract table.
#include <c10/util/Exception.h>

#include <exception>

#include "device.h"
#include "error.h"
#include "lifecycle.h"
#include "memory.h"
#include "stream.h"

namespace flagos::cuda {
namespace {

// Lets no C++ exception out: PyTorch's functions for CUDA throw.
template <auto function, typename... Arguments>
flagos_status guarded(Arguments... arguments) {
  try {
    return function(arguments...);
  } catch (const c10::Error& error) {
    return fail(FLAGOS_ERROR_SYSTEM, "%s", error.what_without_backtrace());
  } catch (const std::exception& error) {
    return fail(FLAGOS_ERROR_SYSTEM, "the cuda platform failed: %s", error.what());
  }
}

// A function of the contract: refuses before initialize and after a fork.
template <auto function>
struct Slot;
template <typename... Arguments, flagos_status (*function)(Arguments...)>
struct Slot<function> {
  static flagos_status call(Arguments... arguments) {
    if (!ready.load(std::memory_order_acquire)) return not_ready();
    return guarded<function>(arguments...);
  }
};

constexpr flagos_platform table{
    .magic = FLAGOS_PLATFORM_MAGIC,
    .abi_major = FLAGOS_PLATFORM_ABI_MAJOR,
    .abi_minor = FLAGOS_PLATFORM_ABI_MINOR,
    .id = "cuda",
    .sdk_version = TORCH_FL_SDK_VERSION,
    .struct_size = sizeof(flagos_platform),
    .capabilities = 0,
    .initialize = &guarded<&initialize>,
    .last_error = &last_error,
    .device_count = &guarded<&device_count, int32_t*>,
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
    .host_offset = nullptr,
    .memcpy_async = &Slot<&memcpy_async>::call,
    .memset_async = &Slot<&memset_async>::call,
    .stream_priority_range = &Slot<&stream_priority_range>::call,
    .stream_create = &Slot<&stream_create>::call,
    .stream_destroy = &Slot<&stream_destroy>::call,
    .stream_query = &Slot<&stream_query>::call,
    .stream_synchronize = &Slot<&stream_synchronize>::call,
    .stream_wait_event = &Slot<&stream_wait_event>::call,
    // Work of the CPU on a stream may not call CUDA, and freeing a tensor in it would.
    .launch_host_function = nullptr,
    .event_create = &Slot<&event_create>::call,
    .event_destroy = &Slot<&event_destroy>::call,
    .event_record = &Slot<&event_record>::call,
    .event_query = &Slot<&event_query>::call,
    .event_synchronize = &Slot<&event_synchronize>::call,
    .event_elapsed = &Slot<&event_elapsed>::call,
};

}  // namespace
}  // namespace flagos::cuda

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  return &flagos::cuda::table;
}
