/* SPDX-License-Identifier: Apache-2.0
 * flagos_platform.h: the contract between libtorch_fl and one accelerator.
 *
 * A platform is a shared library libtorch_fl_platform_<id>.so that exports one
 * symbol, flagos_platform_entry, and through it the table below.  The core
 * calls nothing else, and includes no vendor header.
 *
 * Versions: `abi_major` must be equal on both sides; a platform may be older
 * (smaller `abi_minor`, smaller `struct_size`) than the core: slots past its
 * `struct_size` count as NULL.  The fields up to `struct_size` never move.
 *
 * Every function returns a flagos_status.  After a failure `last_error` gives
 * one sentence for the calling thread.  All functions are safe to call from
 * any thread.  A slot marked (optional) may be NULL.
 */
#ifndef FLAGOS_PLATFORM_H
#define FLAGOS_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLAGOS_PLATFORM_MAGIC 0x464c5031u /* "FLP1" */
#define FLAGOS_PLATFORM_ABI_MAJOR 1
#define FLAGOS_PLATFORM_ABI_MINOR 0
#define FLAGOS_PLATFORM_ENTRY "flagos_platform_entry"

typedef enum flagos_status {
  FLAGOS_SUCCESS = 0,
  FLAGOS_ERROR_INVALID_ARGUMENT = 1,
  FLAGOS_ERROR_OUT_OF_MEMORY = 2,
  FLAGOS_ERROR_NOT_READY = 3, /* a query's "no": not a failure */
  FLAGOS_ERROR_NO_DEVICE = 4,
  FLAGOS_ERROR_NOT_SUPPORTED = 5,
  FLAGOS_ERROR_ASYNC = 6, /* earlier work on a stream failed */
  FLAGOS_ERROR_SYSTEM = 7
} flagos_status;

/* NULL is the default stream of the thread's current device. */
typedef struct flagos_stream_s* flagos_stream;
typedef struct flagos_event_s* flagos_event;

/* Work queued on a stream; each is called once.  A non-zero result makes the
 * stream fail: FLAGOS_ERROR_ASYNC is reported, with `message` (copied by the
 * platform, freed by `free_message` if that is not NULL), by the next
 * synchronisation.  What is queued behind it still runs. */
typedef struct flagos_host_result {
  flagos_status status;
  char* message;
  void (*free_message)(char*);
} flagos_host_result;
typedef flagos_host_result (*flagos_host_function)(void* argument);

typedef enum flagos_memory_kind {
  FLAGOS_MEMORY_UNKNOWN = 0, /* ordinary host memory, or nobody's */
  FLAGOS_MEMORY_DEVICE = 1,
  FLAGOS_MEMORY_PINNED = 2 /* page-locked host memory of this platform */
} flagos_memory_kind;

typedef struct flagos_pointer_info {
  flagos_memory_kind kind;
  int32_t device; /* -1 unless kind is FLAGOS_MEMORY_DEVICE */
  void* base;     /* start of the allocation */
  size_t size;    /* its size in bytes */
} flagos_pointer_info;

typedef enum flagos_copy_kind {
  FLAGOS_COPY_HOST_TO_DEVICE = 1,
  FLAGOS_COPY_DEVICE_TO_HOST = 2,
  FLAGOS_COPY_DEVICE_TO_DEVICE = 3 /* same or peer device */
} flagos_copy_kind;

enum { /* bits of flagos_device_properties.flags */
  FLAGOS_DEVICE_INTEGRATED = 1u << 0,
  FLAGOS_DEVICE_EMULATED = 1u << 1
};

typedef struct flagos_device_properties {
  char name[128];
  uint64_t total_memory; /* bytes */
  int32_t major, minor;  /* compute capability, or the vendor's architecture number */
  int32_t multi_processor_count;
  int32_t warp_size;
  int32_t max_threads_per_block;
  int32_t max_threads_per_multi_processor;
  uint64_t shared_memory_per_block;       /* bytes */
  uint64_t shared_memory_per_block_optin; /* bytes */
  int32_t regs_per_multiprocessor;
  int32_t clock_rate_khz;
  uint64_t l2_cache_size; /* bytes */
  uint32_t flags;
  uint8_t uuid[16];
} flagos_device_properties;

enum { /* bits of flagos_platform.capabilities */
  /* A device address plus host_offset is a readable and writable host address:
   * kernels may run on the CPU, in place. */
  FLAGOS_CAP_HOST_ALIAS = 1u << 0,
  /* launch_host_function exists: CPU work can be ordered on streams. */
  FLAGOS_CAP_HOST_FUNCTION = 1u << 1,
  /* Each allocation must reach the platform (guard pages, checkers): the
   * core's caching allocator steps aside. */
  FLAGOS_CAP_NO_CACHING = 1u << 2
};

typedef struct flagos_platform {
  /* fixed prefix */
  uint32_t magic;
  uint16_t abi_major;
  uint16_t abi_minor;
  const char* id;          /* "host", "musa", ... equals the library's name */
  const char* sdk_version; /* SDK it was built for; "" when there is none */
  uint32_t struct_size;    /* sizeof(flagos_platform) on the platform's side */
  uint32_t capabilities;

  /* life: `initialize` is called once, on first use of a device, never at
   * load; everything but last_error may rely on it. */
  flagos_status (*initialize)(void);
  const char* (*last_error)(void);

  /* devices; the current device is per thread */
  flagos_status (*device_count)(int32_t* count); /* may be called before initialize */
  flagos_status (*get_device)(int32_t* device);
  flagos_status (*set_device)(int32_t device);
  flagos_status (*device_properties)(int32_t device, flagos_device_properties* out);
  flagos_status (*synchronize_device)(int32_t device);
  flagos_status (*can_access_peer)(int32_t device, int32_t peer, int32_t* yes);

  /* memory; the address of a zero-byte allocation is NULL */
  flagos_status (*malloc)(int32_t device, size_t bytes, void** out);
  flagos_status (*free)(int32_t device, void* address);
  flagos_status (*memory_info)(int32_t device, size_t* free_bytes, size_t* total_bytes);
  flagos_status (*pointer_info)(const void* address, flagos_pointer_info* out);
  flagos_status (*malloc_pinned)(size_t bytes, void** out);
  flagos_status (*free_pinned)(void* address);
  /* (optional) host address minus device address, where the card is emulated: with FLAGOS_CAP_HOST_ALIAS for the CPU's
   * kernels, and without it for compiled kernels (Triton's) alone, as a card of its own would run them */
  flagos_status (*host_offset)(ptrdiff_t* bytes);

  /* transfers, ordered on a stream of the destination's or source's device,
   * which the caller has made current (it decides whose default stream NULL is);
   * they return before the bytes have moved unless the stream is idle */
  flagos_status (*memcpy_async)(void* to, const void* from, size_t bytes, flagos_copy_kind kind, flagos_stream stream);
  flagos_status (*memset_async)(void* to, int32_t byte, size_t bytes, flagos_stream stream);

  /* streams; lower number = higher priority, as CUDA counts them */
  flagos_status (*stream_priority_range)(int32_t* least, int32_t* greatest);
  flagos_status (*stream_create)(int32_t device, int32_t priority, flagos_stream* out);
  flagos_status (*stream_destroy)(flagos_stream stream);
  flagos_status (*stream_query)(int32_t device, flagos_stream stream); /* SUCCESS: idle; NOT_READY: work is pending */
  flagos_status (*stream_synchronize)(int32_t device, flagos_stream stream);
  flagos_status (*stream_wait_event)(int32_t device, flagos_stream stream, flagos_event event);
  /* (optional) with FLAGOS_CAP_HOST_FUNCTION: runs `function` in stream order,
   * on the calling thread when the stream is a default stream and idle */
  flagos_status (*launch_host_function)(int32_t device, flagos_stream stream, flagos_host_function function, void* argument);

  /* events */
  flagos_status (*event_create)(int32_t device, int32_t enable_timing, flagos_event* out);
  flagos_status (*event_destroy)(flagos_event event);
  flagos_status (*event_record)(flagos_event event, int32_t device, flagos_stream stream);
  flagos_status (*event_query)(flagos_event event); /* SUCCESS: reached or never recorded */
  flagos_status (*event_synchronize)(flagos_event event);
  flagos_status (*event_elapsed)(flagos_event start, flagos_event end, double* milliseconds);
} flagos_platform;

typedef const flagos_platform* (*flagos_platform_entry_function)(void);

#ifdef __cplusplus
}
#endif
#endif
