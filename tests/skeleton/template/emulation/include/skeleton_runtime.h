/* SPDX-License-Identifier: Apache-2.0
 * skeleton_runtime.h: the vendor's runtime, as far as the platform uses it. Write what its documentation says, under its names. */
#ifndef SKELETON_RUNTIME_H
#define SKELETON_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum skeletonStatus {
  skeletonOk = 0,
  skeletonInvalid = 1,
  skeletonOutOfMemory = 2,
  skeletonBusy = 3, /* a query's "no" */
  skeletonNoDevice = 4,
  skeletonWorkFailed = 5,
  skeletonBroken = 6
} skeletonStatus;

typedef struct skeletonStream_s* skeletonStream; /* NULL: the device's default stream */
typedef struct skeletonEvent_s* skeletonEvent;
typedef enum skeletonKind { skeletonUnknown = 0, skeletonDevice = 1, skeletonPinned = 2 } skeletonKind;
typedef enum skeletonDirection { skeletonToDevice = 1, skeletonToHost = 2, skeletonOnDevices = 3 } skeletonDirection;

const char* skeletonLastError(void); /* of the calling thread */

skeletonStatus skeletonDeviceCount(int* count);
skeletonStatus skeletonGetDevice(int* device);
skeletonStatus skeletonSetDevice(int device);
skeletonStatus skeletonDeviceName(int device, char* name, size_t size);
skeletonStatus skeletonSynchronize(int device);

skeletonStatus skeletonMalloc(int device, size_t bytes, void** out);
skeletonStatus skeletonFree(int device, void* address);
skeletonStatus skeletonMallocHost(size_t bytes, void** out);
skeletonStatus skeletonFreeHost(void* address);
skeletonStatus skeletonMemoryInfo(int device, size_t* free_bytes, size_t* total_bytes);
skeletonStatus skeletonPointer(const void* address, skeletonKind* kind, int* device, void** base, size_t* bytes);

/* Ordered on a stream of that device; they return before the bytes have moved. */
skeletonStatus skeletonCopy(int device, void* to, const void* from, size_t bytes, skeletonDirection way, skeletonStream stream);
skeletonStatus skeletonFill(int device, void* to, int byte, size_t bytes, skeletonStream stream);

skeletonStatus skeletonStreamCreate(int device, skeletonStream* out);
skeletonStatus skeletonStreamDestroy(skeletonStream stream);
skeletonStatus skeletonStreamQuery(int device, skeletonStream stream);
skeletonStatus skeletonStreamSynchronize(int device, skeletonStream stream);
skeletonStatus skeletonStreamWait(int device, skeletonStream stream, skeletonEvent event);

skeletonStatus skeletonEventCreate(int device, int timing, skeletonEvent* out);
skeletonStatus skeletonEventDestroy(skeletonEvent event);
skeletonStatus skeletonEventRecord(skeletonEvent event, int device, skeletonStream stream);
skeletonStatus skeletonEventQuery(skeletonEvent event);
skeletonStatus skeletonEventSynchronize(skeletonEvent event);
skeletonStatus skeletonEventElapsed(skeletonEvent start, skeletonEvent end, double* milliseconds);

#ifdef __cplusplus
}
#endif
#endif
