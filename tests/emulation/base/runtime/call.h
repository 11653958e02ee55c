// SPDX-License-Identifier: Apache-2.0
// What every function of the runtime does around its own work.
#pragma once

#include <exception>

#include "activity.h"
#include "card.h"
#include "sentence.h"

namespace runtime {

namespace host = flagos::host;

// The devices that this process sees: those of the emulated ones that the vendor's variable names. `physical` is a device's
// number without it.
int visible_devices();
int physical(int device);

// The base starts on first use. Why that cannot be, or RT(Success): no driver, a forked process, bad settings, no device.
Error started();
// The same with the current device being sound.
Error ready();

// The vendor's error for a status of the base.
Error translate(flagos_status status);

// Stores a failure as the thread's last error, and returns it.
Error remember(Error error);

// One sentence for flagos_emulation_last_error, and the error.
template <typename... Values>
Error refuse(Error error, const char* format, Values... values) {
  flagos::fail(FLAGOS_ERROR_INVALID_ARGUMENT, format, values...);
  return error;
}

template <typename Body>
Error call(const char* name, Body&& body, flagos_emulation_v1_kind kind = FLAGOS_EMULATION_CALL) {
  emulation::CallScope scope(name, kind);
  Error error = ready();
  if (error == RT(Success)) {
    try {
      error = body();
    } catch (const std::exception& failure) {
      error = refuse(RT(ErrorUnknown), "%s: %s", name, failure.what());
    }
  }
  scope.set_status(error);
  return remember(error);
}

// The quirk that a device address means something only while its own device is current. Bytes at a device address, for a
// function of that name: RT(ErrorInvalidValue) unless they are live device memory. `any_device`: the quirk spares peer copies.
Error check_device_memory(const char* function, const void* address, size_t bytes, bool any_device = false);

Error allocate_pinned(void** address, size_t bytes);

// Device memory, page-locked or registered host memory, or any other.
flagos_emulation_v1_place place_of(const void* address);

}  // namespace runtime
