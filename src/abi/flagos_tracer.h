/* SPDX-License-Identifier: Apache-2.0
 * flagos_tracer.h: the contract between libtorch_fl and the tracing library of one accelerator (MUPTI, CUPTI, roctracer, ...).
 *
 * A platform that can trace has a library of its own, libtorch_fl_platform_<id>_tracer.so beside libtorch_fl.so, which exports
 * one symbol, flagos_tracer_entry, and through it the table below.  A platform without one has a CPU timeline only.  The core
 * opens it when the first torch.profiler session with device activities starts; the tracer opens the vendor's library then
 * (dlopen, never linked), so a machine without it runs everything but device timelines.
 *
 * What the core does for every platform: it converts times to the realtime clock, cuts to the capture window, demangles names,
 * draws flows, attributes device work to PyTorch's operators and writes what was lost.  What a tracer does: it turns the
 * vendor's records into flagos_activity, one for one.
 *
 * Two kinds of correlation, never mixed:
 *   - `correlation`, the vendor's number: the same in the record of a call and in those of the device work that the call
 *     queued.  It draws the arrows.
 *   - external ids, PyTorch's numbers: pushed and popped around operators on the thread that runs them, by the core.  The
 *     vendor's library answers with FLAGOS_ACTIVITY_EXTERNAL records, each (correlation, domain, external id).
 *
 * Functions return a flagos_status; after a failure `last_error` gives one sentence for the calling thread.  All but
 * push_external and pop_external are called by one thread at a time; these two come from any thread, while a session runs.
 */
#ifndef FLAGOS_TRACER_H
#define FLAGOS_TRACER_H

#include "flagos_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLAGOS_TRACER_MAGIC 0x464c5452u /* "FLTR" */
#define FLAGOS_TRACER_ABI_MAJOR 1
#define FLAGOS_TRACER_ABI_MINOR 0
#define FLAGOS_TRACER_ENTRY "flagos_tracer_entry"

typedef enum flagos_activity_kind {
  FLAGOS_ACTIVITY_KERNEL = 1, /* concurrent and serialised ones alike; each kernel once */
  FLAGOS_ACTIVITY_MEMCPY = 2,
  FLAGOS_ACTIVITY_MEMSET = 3,
  FLAGOS_ACTIVITY_RUNTIME = 4,         /* a call of the runtime's API, on the host */
  FLAGOS_ACTIVITY_DRIVER = 5,          /* a call of the driver's API, on the host */
  FLAGOS_ACTIVITY_SYNCHRONIZATION = 6, /* waiting, as the vendor reports it beside the call */
  FLAGOS_ACTIVITY_OVERHEAD = 7,        /* time that the tracing itself took */
  FLAGOS_ACTIVITY_EXTERNAL = 8         /* one external id of one correlation number; no times */
} flagos_activity_kind;

/* Stacks of external ids; each thread has its own. */
typedef enum flagos_external_domain {
  FLAGOS_EXTERNAL_OPERATOR = 0,  /* PyTorch's operators */
  FLAGOS_EXTERNAL_ANNOTATION = 1 /* torch.profiler.record_function */
} flagos_external_domain;

/* One record.  Times are in nanoseconds of the tracer's own clock, the one of `now`; strings live as long as the call of the
 * sink.  What a kind does not have, or the vendor does not tell, is 0. */
typedef struct flagos_activity {
  uint32_t struct_size; /* sizeof(flagos_activity) on the tracer's side; fields past it count as 0 */
  flagos_activity_kind kind;
  const char* name; /* kernels: the symbol, mangled or not; calls: the function; copies: "HtoD", "DtoH", "DtoD", "PtoP", "HtoH" */
  uint64_t start, end;
  uint32_t correlation; /* 0: none */
  int32_t domain;       /* FLAGOS_ACTIVITY_EXTERNAL: a flagos_external_domain */
  uint64_t external_id; /* FLAGOS_ACTIVITY_EXTERNAL */
  int32_t device;       /* of device work */
  uint32_t context;
  uint32_t stream;
  uint32_t thread; /* of calls, synchronisation and overhead: the system's thread id */
  uint64_t bytes;  /* copies and fills */
  int32_t grid[3], block[3];
  uint32_t registers;          /* a thread */
  uint64_t shared_memory;      /* bytes a block, static and dynamic */
  int32_t result;              /* of calls: the vendor's status; 0 is success */
} flagos_activity;

typedef void (*flagos_activity_sink)(const flagos_activity* activity, void* argument);

typedef struct flagos_tracer {
  /* fixed prefix */
  uint32_t magic;
  uint16_t abi_major;
  uint16_t abi_minor;
  const char* id;       /* of the platform */
  const char* name;     /* of the vendor's interface: "MUPTI" */
  uint32_t struct_size; /* sizeof(flagos_tracer) on the tracer's side */

  const char* (*last_error)(void);

  /* Opens the vendor's library: `file`, or where that is NULL the vendor's usual names.  Once a process; a second call
   * succeeds.  `opened` is set to what was opened and lives on. */
  flagos_status (*open)(const char* file, const char** opened);

  /* The tracer's clock. */
  flagos_status (*now)(uint64_t* nanoseconds);

  /* `kinds`: bits 1 << flagos_activity_kind.  What the vendor refuses is left out of `*granted`; failing means that nothing
   * at all is traced.  Records of an earlier session are thrown away. */
  flagos_status (*start)(uint32_t kinds, uint32_t* granted);
  /* Stops, and keeps the records. */
  flagos_status (*stop)(void);
  /* Gives all records of the session to `sink`, once, on this thread and in any order, and says how many the vendor dropped. */
  flagos_status (*deliver)(flagos_activity_sink sink, void* argument, uint64_t* dropped);

  flagos_status (*push_external)(flagos_external_domain domain, uint64_t id);
  flagos_status (*pop_external)(flagos_external_domain domain);
} flagos_tracer;

typedef const flagos_tracer* (*flagos_tracer_entry_function)(void);

#ifdef __cplusplus
}
#endif
#endif
