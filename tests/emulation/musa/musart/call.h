// SPDX-License-Identifier: Apache-2.0
// What every function of the runtime does around its own work.
#pragma once

#include <musa_runtime_api.h>

#include <exception>

#include "activity.h"
#include "error.h"

namespace musart {

namespace host = flagos::host;

// The devices that this process sees: MUSA_VISIBLE_DEVICES of the emulated ones. `physical` is a device's number without it.
int visible_devices();
int physical(int device);

// The base starts on first use. Why that cannot be, or musaSuccess: no driver, a forked process, bad settings, no device.
musaError_t started();
// The same with the current device being sound.
musaError_t ready();

// The vendor's error for a status of the base.
musaError_t translate(flagos_status status);

// Stores a failure as the thread's last error, and returns it.
musaError_t remember(musaError_t error);

// One sentence for flagos_emulation_last_error, and the error.
template <typename... Values>
musaError_t refuse(musaError_t error, const char* format, Values... values) {
  flagos::fail(FLAGOS_ERROR_INVALID_ARGUMENT, format, values...);
  return error;
}

template <typename Body>
musaError_t call(const char* name, Body&& body, flagos_emulation_v1_kind kind = FLAGOS_EMULATION_CALL) {
  emulation::CallScope scope(name, kind);
  musaError_t error = ready();
  if (error == musaSuccess) {
    try {
      error = body();
    } catch (const std::exception& failure) {
      error = refuse(musaErrorUnknown, "%s: %s", name, failure.what());
    }
  }
  scope.set_status(error);
  return remember(error);
}

// The quirk that a device address means something only while its own device is current. Bytes at a device address, for a
// function of that name: musaErrorInvalidValue unless they are live device memory. `any_device`: the quirk spares peer copies.
musaError_t check_device_memory(const char* function, const void* address, size_t bytes, bool any_device = false);

// Device memory, page-locked or registered host memory, or any other.
flagos_emulation_v1_place place_of(const void* address);

}  // namespace musart
