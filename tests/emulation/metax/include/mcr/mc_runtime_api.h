/* SPDX-License-Identifier: Apache-2.0
 * mc_runtime_api.h: the part of the MACA runtime that torch-fl uses, declared anew from public call sites (see maca.h).
 *
 * Every function returns mcSuccess or the reason; "current device" is the calling thread's.
 */
#ifndef MC_RUNTIME_API_H
#define MC_RUNTIME_API_H

#include "maca.h"

#ifdef __cplusplus
extern "C" {
#endif

/* versions are numbers as MACA_VERSION; the last error is the calling thread's */
mcError_t mcDriverGetVersion(int* version);
mcError_t mcRuntimeGetVersion(int* version);
const char* mcGetErrorName(mcError_t error);
const char* mcGetErrorString(mcError_t error);
mcError_t mcGetLastError(void); /* and forgets it */
mcError_t mcPeekAtLastError(void);

/* devices */
mcError_t mcGetDeviceCount(int* count);
mcError_t mcGetDevice(int* device);
mcError_t mcSetDevice(int device);
mcError_t mcDeviceSynchronize(void);
mcError_t mcDeviceGetAttribute(int* value, mcDeviceAttribute_t attribute, int device);
mcError_t mcGetDeviceProperties(mcDeviceProp_t* properties, int device);
mcError_t mcDeviceGetStreamPriorityRange(int* least, int* greatest);
mcError_t mcDeviceReset(void); /* waits for the current device */
mcError_t mcDeviceGetName(char* name, int length, int device);
mcError_t mcDeviceGetPCIBusId(char* id, int length, int device);
mcError_t mcDeviceGetByPCIBusId(int* device, const char* id);
mcError_t mcDeviceCanAccessPeer(int* yes, int device, int peer);
mcError_t mcDeviceEnablePeerAccess(int peer, unsigned int flags); /* of the current device to `peer`; flags: 0 */

/* memory */
mcError_t mcMalloc(void** address, size_t bytes);
mcError_t mcFree(void* address);
mcError_t mcMallocHost(void** address, size_t bytes);
mcError_t mcFreeHost(void* address);
mcError_t mcHostRegister(void* address, size_t bytes, unsigned int flags);
mcError_t mcHostUnregister(void* address);
mcError_t mcHostGetDevicePointer(void** device_address, void* host_address, unsigned int flags);
mcError_t mcMallocManaged(void** address, size_t bytes, unsigned int flags);
mcError_t mcMallocAsync(void** address, size_t bytes, mcStream_t stream);
mcError_t mcFreeAsync(void* address, mcStream_t stream);
mcError_t mcMemGetInfo(size_t* free_bytes, size_t* total_bytes);
mcError_t mcPointerGetAttributes(mcPointerAttribute_t* attributes, const void* address);
mcError_t mcIpcGetMemHandle(mcIpcMemHandle_t* handle, void* address);
mcError_t mcIpcOpenMemHandle(void** address, mcIpcMemHandle_t handle, unsigned int flags);
mcError_t mcIpcCloseMemHandle(void* address);

/* transfers */
mcError_t mcMemcpy(void* to, const void* from, size_t bytes, mcMemcpyKind kind);
mcError_t mcMemcpyAsync(void* to, const void* from, size_t bytes, mcMemcpyKind kind, mcStream_t stream);
mcError_t mcMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, mcStream_t stream);
mcError_t mcMemset(void* to, int byte, size_t bytes);
mcError_t mcMemsetAsync(void* to, int byte, size_t bytes, mcStream_t stream);

/* streams; a lower number is a higher priority */
mcError_t mcStreamCreate(mcStream_t* stream);
mcError_t mcStreamCreateWithFlags(mcStream_t* stream, unsigned int flags);
mcError_t mcStreamCreateWithPriority(mcStream_t* stream, unsigned int flags, int priority);
mcError_t mcStreamGetPriority(mcStream_t stream, int* priority);
mcError_t mcStreamDestroy(mcStream_t stream);
mcError_t mcStreamQuery(mcStream_t stream); /* mcErrorNotReady while work is pending */
mcError_t mcStreamSynchronize(mcStream_t stream);
mcError_t mcLaunchHostFunc(mcStream_t stream, mcHostFn_t function, void* argument);
mcError_t mcStreamWaitEvent(mcStream_t stream, mcEvent_t event, unsigned int flags);

/* events; times in milliseconds */
mcError_t mcEventCreate(mcEvent_t* event);
mcError_t mcEventCreateWithFlags(mcEvent_t* event, unsigned int flags);
mcError_t mcEventDestroy(mcEvent_t event);
mcError_t mcEventRecord(mcEvent_t event, mcStream_t stream);
mcError_t mcEventRecordWithFlags(mcEvent_t event, mcStream_t stream, unsigned int flags);
mcError_t mcEventQuery(mcEvent_t event);
mcError_t mcEventSynchronize(mcEvent_t event);
mcError_t mcEventElapsedTime(float* milliseconds, mcEvent_t start, mcEvent_t end);

#ifdef __cplusplus
}

/* The vendor's headers have such overloads for C++; in which file: guess. */
template <typename T>
inline mcError_t mcMalloc(T** address, size_t bytes) {
  return mcMalloc(reinterpret_cast<void**>(address), bytes);
}
#endif
#endif
