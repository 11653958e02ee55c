// SPDX-License-Identifier: Apache-2.0
// Events. The runtime binds an event to the device that is current when it is made, and records it on streams of that device
// only; PyTorch records where it likes. So the runtime's event is made by the first recording, and anew for another device.
#pragma once

#include "error.h"

namespace flagos::musa {

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out);
flagos_status event_destroy(flagos_event event);
flagos_status event_record(flagos_event event, int32_t device, flagos_stream stream);
flagos_status event_query(flagos_event event);
flagos_status event_synchronize(flagos_event event);
flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds);
flagos_status stream_wait_event(int32_t device, flagos_stream stream, flagos_event event);

}  // namespace flagos::musa
