// SPDX-License-Identifier: Apache-2.0
// What the runtime library gives to its siblings (emulation/exports.h) and to the platform (flagos_emulation.h).
#include "emulation/exports.h"

#include <flagos_emulation.h>

#include <cstdlib>

#include "activity.h"
#include "current_device.h"
#include "devices.h"
#include "sentence.h"
#include "contract.h"
#include "memory.h"
#include "settings.h"

namespace host = flagos::host;

extern "C" {

int32_t flagos_emulation_v1_current_device() { return host::current_device; }

int32_t flagos_emulation_v1_device_count() {
  int32_t count = 0;
  return host::device_count(&count) == FLAGOS_SUCCESS ? count : 0;
}

void* flagos_emulation_v1_cpu_address(const void* address) {
  auto* byte = static_cast<char*>(const_cast<void*>(address));
  if (host::address_space().device_of(address) >= 0) return byte + host::address_space().offset();
  flagos_pointer_info info;
  host::pointer_info(address, &info);
  return info.kind == FLAGOS_MEMORY_PINNED ? byte : nullptr;
}

int32_t flagos_emulation_v1_find_block(const void* address, flagos_emulation_v1_block* block) {
  flagos_pointer_info info;
  if (!host::find_device_block(address, &info)) return 0;
  *block = {info.base, info.size, info.device};
  return 1;
}

int32_t flagos_emulation_v1_stream_device(const void* stream) {
  const auto found = emulation::find_stream(stream);
  return found ? found->device : -1;
}

int32_t flagos_emulation_v1_launch(void* stream, const char* name, char* (*work)(void*), void* argument) {
  if (emulation::start() != FLAGOS_SUCCESS) return -1;
  const emulation::CallScope scope(emulation::launch_call_name);
  const auto target = emulation::find_stream(stream);
  if (!target || emulation::broken(target->device)) return -1;
  emulation::Activity what{};
  what.kind = FLAGOS_EMULATION_KERNEL;
  what.name = name;
  emulation::submit(*target, what, [work, argument, device = target->device]() -> flagos_host_result {
    char* failure = work(argument);
    if (!failure) return {FLAGOS_SUCCESS, nullptr, nullptr};
    emulation::break_device(device);
    return {FLAGOS_ERROR_ASYNC, failure, [](char* text) { std::free(text); }};
  });
  return 0;
}

flagos_status flagos_emulation_host_offset(ptrdiff_t* bytes) {
  if (const auto status = emulation::start(); status != FLAGOS_SUCCESS) return status;
  return host::host_offset(bytes);
}

// Kernels that others compile (Triton's): they report failures in their result, and the card stays usable, as the platform's
// contract wants it.
flagos_status flagos_emulation_launch_host_function(int32_t device, flagos_stream stream, flagos_host_function function,
                                                    void* argument) {
  if (const auto status = emulation::start(); status != FLAGOS_SUCCESS) return status;
  if (!function) return flagos::fail(FLAGOS_ERROR_INVALID_ARGUMENT, "launch_host_function: the function is NULL");
  if (const auto status = host::check_device(device); status != FLAGOS_SUCCESS) return status;
  const auto target = emulation::find_stream(device, stream);
  if (!target) return flagos::fail(FLAGOS_ERROR_INVALID_ARGUMENT, "launch_host_function: not a stream");
  const emulation::CallScope scope(emulation::compiled_launch_call_name);
  emulation::Activity what{};
  what.kind = FLAGOS_EMULATION_KERNEL;
  what.name = "flagos_host_function";
  emulation::submit(*target, what, [function, argument] { return function(argument); });
  return FLAGOS_SUCCESS;
}

uint32_t flagos_emulation_capabilities() {
  host::Settings settings;  // what is wrong with them is told by the first call
  const bool guard = host::read_settings(&settings) == FLAGOS_SUCCESS && settings.guard;
  return FLAGOS_CAP_HOST_FUNCTION | (guard ? FLAGOS_CAP_NO_CACHING : 0);
}

const char* flagos_emulation_last_error() { return flagos::last_error(); }
}
