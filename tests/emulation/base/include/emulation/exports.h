/* SPDX-License-Identifier: Apache-2.0
 * exports.h: what an emulated runtime library exports for the other libraries of its SDK.
 *
 * All libraries of one emulated SDK (musart, mudnn, ...) share one set of devices. It lives in the runtime library, which alone
 * contains the emulation's base; the others link against it and come here. C++ code uses device.h and activity.h, which wrap
 * these functions. The version in the names is that of this file.
 */
#ifndef EMULATION_EXPORTS_H
#define EMULATION_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMULATION_EXPORT __attribute__((visibility("default")))

/* Live device memory that holds an address. */
typedef struct flagos_emulation_v1_block {
  void* base;
  size_t bytes;
  int32_t device;
} flagos_emulation_v1_block;

typedef enum flagos_emulation_v1_kind {
  FLAGOS_EMULATION_KERNEL = 1,
  FLAGOS_EMULATION_COPY = 2,
  FLAGOS_EMULATION_FILL = 3,
  FLAGOS_EMULATION_CALL = 4,       /* a call of the runtime's interface, on the calling thread */
  FLAGOS_EMULATION_SYNCHRONIZE = 5 /* the same, of a call that waits */
} flagos_emulation_v1_kind;

typedef enum flagos_emulation_v1_place { /* of a copy's ends */
                                         FLAGOS_EMULATION_PAGEABLE = 1,
                                         FLAGOS_EMULATION_PINNED = 2,
                                         FLAGOS_EMULATION_DEVICE = 3
} flagos_emulation_v1_place;

/* Something that has happened, told once it is over. Times are nanoseconds of CLOCK_MONOTONIC. */
typedef struct flagos_emulation_v1_activity {
  flagos_emulation_v1_kind kind;
  const char* name; /* of the kernel or of the function that was called; valid while the callback runs */
  uint64_t start, end;
  uint64_t correlation;           /* equal for a call and the work that it has put on a stream; 0: none */
  int32_t device;                 /* of calls: the current one */
  uint32_t stream;                /* the stream's number within the process; 0 is a default stream; 0 for calls */
  uint32_t thread;                /* calls: the thread's number (gettid) */
  uint64_t bytes;                 /* copies and fills */
  int32_t value;                  /* fills: the byte; calls: the vendor's status */
  int32_t from, to;               /* copies: flagos_emulation_v1_place */
  int32_t from_device, to_device; /* copies; -1 for the host */
} flagos_emulation_v1_activity;

typedef void (*flagos_emulation_v1_observer)(void* context, const flagos_emulation_v1_activity* activity);

/* The calling thread's device, and the number of devices (0 when none can be had). */
EMULATION_EXPORT int32_t flagos_emulation_v1_current_device(void);
EMULATION_EXPORT int32_t flagos_emulation_v1_device_count(void);
/* Where the CPU finds a byte that device code names: device memory, or pinned host memory, which is itself; else NULL. */
EMULATION_EXPORT void* flagos_emulation_v1_cpu_address(const void* address);
/* 1 and *block filled when the address lies in live device memory. */
EMULATION_EXPORT int32_t flagos_emulation_v1_find_block(const void* address, flagos_emulation_v1_block* block);
/* The device of a stream of the SDK; of NULL the current one; -1 when it is no stream. */
EMULATION_EXPORT int32_t flagos_emulation_v1_stream_device(const void* stream);
/* Runs work(argument) in stream order, once, perhaps before this returns. `name` is copied. `work` returns NULL, or a sentence
 * on the heap (freed with free) that says why the kernel failed: then the device is broken, as a card after a fault. 0, or -1
 * when it is no stream or its device is broken. */
EMULATION_EXPORT int32_t flagos_emulation_v1_launch(void* stream, const char* name, char* (*work)(void*), void* argument);
/* Tells everything that happens from now on to one observer: calls on the calling thread, work on the thread that has run it.
 * NULL: to nobody, none is running any more once this returns. An observer must not call the SDK. */
EMULATION_EXPORT void flagos_emulation_v1_observe(flagos_emulation_v1_observer observer, void* context);

#ifdef __cplusplus
}
#endif
#endif
