/* SPDX-License-Identifier: Apache-2.0
 * mupti_activity.h of the emulated MUSA SDK: activity records. Names of functions, types and fields are those that public code
 * uses; all numbers, the order of fields and the fields that nobody uses are guesses.
 */
#ifndef MUPTI_ACTIVITY_H
#define MUPTI_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "mupti_callbacks.h"
#include "mupti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MUSA_H /* the driver's header, where it is there, declares the same type */
typedef struct MUctx_st* MUcontext;
#endif

typedef enum {
  MUPTI_ACTIVITY_KIND_INVALID = 0,
  MUPTI_ACTIVITY_KIND_MEMCPY = 1,
  MUPTI_ACTIVITY_KIND_MEMSET = 2,
  MUPTI_ACTIVITY_KIND_KERNEL = 3, /* kernels that run one at a time */
  MUPTI_ACTIVITY_KIND_DRIVER = 4,
  MUPTI_ACTIVITY_KIND_RUNTIME = 5,
  MUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
  MUPTI_ACTIVITY_KIND_OVERHEAD = 17,
  MUPTI_ACTIVITY_KIND_MEMCPY2 = 22, /* between devices */
  MUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
  MUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 39,
  MUPTI_ACTIVITY_KIND_COUNT = 40
} MUpti_ActivityKind;

typedef enum {
  MUPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
  MUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 3,
  MUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 4,
  MUPTI_EXTERNAL_CORRELATION_KIND_SIZE = 6
} MUpti_ExternalCorrelationKind;

typedef enum {
  MUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
  MUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1,
  MUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2,
  MUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8,
  MUPTI_ACTIVITY_MEMCPY_KIND_HTOH = 9,
  MUPTI_ACTIVITY_MEMCPY_KIND_PTOP = 10
} MUpti_ActivityMemcpyKind;

typedef enum {
  MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN = 0,
  MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE = 1,
  MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT = 2,
  MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE = 3,
  MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE = 4
} MUpti_ActivitySynchronizationType;

typedef enum {
  MUPTI_ACTIVITY_OVERHEAD_UNKNOWN = 0,
  MUPTI_ACTIVITY_OVERHEAD_MUPTI_BUFFER_FLUSH = 1 << 16
} MUpti_ActivityOverheadKind;

typedef struct {
  MUpti_ActivityKind kind;
} MUpti_Activity;

/* Times are nanoseconds of muptiGetTimestamp. */
typedef struct {
  MUpti_ActivityKind kind;
  uint16_t registersPerThread;
  uint64_t start, end;
  uint32_t deviceId, contextId, streamId;
  int32_t gridX, gridY, gridZ;
  int32_t blockX, blockY, blockZ;
  int32_t staticSharedMemory, dynamicSharedMemory; /* bytes */
  uint32_t correlationId;
  int64_t gridId;
  const char* name; /* the symbol, as the compiler made it */
  uint64_t queued, submitted;
  uint64_t graphNodeId;
  uint32_t graphId;
} MUpti_ActivityKernel6;

typedef struct {
  MUpti_ActivityKind kind;
  uint8_t copyKind, srcKind, dstKind, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t deviceId, contextId, streamId;
  uint32_t correlationId;
  uint64_t graphNodeId;
  uint32_t graphId;
} MUpti_ActivityMemcpy4;

typedef struct {
  MUpti_ActivityKind kind;
  uint8_t copyKind, srcKind, dstKind, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t deviceId, contextId, streamId;
  uint32_t srcDeviceId, srcContextId, dstDeviceId, dstContextId;
  uint32_t correlationId;
  uint64_t graphNodeId;
  uint32_t graphId;
} MUpti_ActivityMemcpyPtoP3;

typedef struct {
  MUpti_ActivityKind kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t deviceId, contextId, streamId;
  uint32_t correlationId;
  uint64_t graphNodeId;
  uint32_t graphId;
} MUpti_ActivityMemset3;

typedef struct {
  MUpti_ActivityKind kind; /* RUNTIME or DRIVER */
  uint32_t cbid;
  uint64_t start, end;
  uint32_t processId, threadId;
  uint32_t correlationId;
  uint32_t returnValue;
} MUpti_ActivityAPI;

typedef struct {
  MUpti_ActivityKind kind;
  MUpti_ExternalCorrelationKind externalKind;
  uint64_t externalId;
  uint32_t correlationId;
} MUpti_ActivityExternalCorrelation;

typedef struct {
  MUpti_ActivityKind kind;
  MUpti_ActivitySynchronizationType type;
  uint64_t start, end;
  uint32_t correlationId;
  uint32_t contextId, streamId;
} MUpti_ActivitySynchronization;

typedef union {
  struct {
    uint32_t processId, threadId;
  } pt;
} MUpti_ActivityObjectKindId;

typedef struct {
  MUpti_ActivityKind kind;
  MUpti_ActivityOverheadKind overheadKind;
  MUpti_ActivityObjectKindId objectId;
  uint64_t start, end;
} MUpti_ActivityOverhead;

/* Gives an empty buffer, 8-byte aligned; maxNumRecords 0: as many as fit. */
typedef void(MUPTIAPI* MUpti_BuffersCallbackRequestFunc)(uint8_t** buffer, size_t* size, size_t* maxNumRecords);
/* Takes back one whose first validSize bytes hold records. */
typedef void(MUPTIAPI* MUpti_BuffersCallbackCompleteFunc)(MUcontext context, uint32_t streamId, uint8_t* buffer, size_t size,
                                                          size_t validSize);

#define MUPTI_FUNCTION __attribute__((visibility("default"))) MUptiResult MUPTIAPI

MUPTI_FUNCTION muptiActivityEnable(MUpti_ActivityKind kind);
MUPTI_FUNCTION muptiActivityDisable(MUpti_ActivityKind kind);
MUPTI_FUNCTION muptiActivityRegisterCallbacks(MUpti_BuffersCallbackRequestFunc request,
                                              MUpti_BuffersCallbackCompleteFunc complete);
MUPTI_FUNCTION muptiActivityFlushAll(uint32_t flag);
/* *record is NULL for the first one, and the one before for the next. */
MUPTI_FUNCTION muptiActivityGetNextRecord(uint8_t* buffer, size_t validSize, MUpti_Activity** record);
/* The number since the last question. */
MUPTI_FUNCTION muptiActivityGetNumDroppedRecords(MUcontext context, uint32_t streamId, size_t* dropped);
MUPTI_FUNCTION muptiActivityPushExternalCorrelationId(MUpti_ExternalCorrelationKind kind, uint64_t id);
MUPTI_FUNCTION muptiActivityPopExternalCorrelationId(MUpti_ExternalCorrelationKind kind, uint64_t* lastId);
MUPTI_FUNCTION muptiGetTimestamp(uint64_t* timestamp);

#ifdef __cplusplus
}
#endif
#endif
