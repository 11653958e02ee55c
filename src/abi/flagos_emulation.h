/* SPDX-License-Identifier: Apache-2.0
 * flagos_emulation.h: what an emulated SDK exports beyond the vendor's own names.
 *
 * The symbols are weak: with a vendor's real library they are NULL, and so are the slots of the platform's table that take them.
 * A platform writes `.host_offset = flagos_emulation_host_offset` and `.launch_host_function =
 * flagos_emulation_launch_host_function` (with FLAGOS_CAP_HOST_FUNCTION where it is not NULL), and marks its devices
 * FLAGOS_DEVICE_EMULATED. Triton's kernels then run on the emulated card through torch-fl-triton-host.
 * Its `.capabilities` are those of flagos_emulation_capabilities, and its sentences end with flagos_emulation_last_error.
 */
#ifndef FLAGOS_EMULATION_H
#define FLAGOS_EMULATION_H

#include "flagos_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Host address minus device address; for compiled kernels that play the card's, never for the platform's own code. */
__attribute__((weak, visibility("default"))) flagos_status flagos_emulation_host_offset(ptrdiff_t* bytes);

/* As launch_host_function of the platform's table; `stream` is the vendor's handle. */
__attribute__((weak, visibility("default"))) flagos_status flagos_emulation_launch_host_function(
    int32_t device, flagos_stream stream, flagos_host_function function, void* argument);

/* Bits of flagos_platform.capabilities that the emulated card brings along. */
__attribute__((weak, visibility("default"))) uint32_t flagos_emulation_capabilities(void);

/* Why the calling thread's last call into the emulated SDK failed, in more words than a vendor's error code has. */
__attribute__((weak, visibility("default"))) const char* flagos_emulation_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
