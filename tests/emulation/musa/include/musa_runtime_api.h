/* SPDX-License-Identifier: Apache-2.0
 * musa_runtime_api.h: the part of the MUSA runtime that torch-fl uses, declared anew from public call sites.
 *
 * This is not the vendor's header. The names, arguments and order of arguments are those of public code that calls the runtime.
 * "guess" marks what no public source confirms: the runtime mirrors CUDA's, so CUDA's numbers and layouts are assumed. Code
 * that is compiled against the vendor's header takes the vendor's numbers; nothing in src/ repeats one of ours.
 *
 * Every function returns musaSuccess or the reason; "current device" is the calling thread's.
 */
#ifndef MUSA_RUNTIME_API_H
#define MUSA_RUNTIME_API_H

#include <stddef.h>

#define MUSART_VERSION 50100 /* of MUSA 5.1.0 */

#ifdef __cplusplus
extern "C" {
#endif

/* 0, 1, 2, 3, 38, 101, 600, 801 and 999 are in public use; the other numbers are CUDA's: guess. */
typedef enum musaError {
  musaSuccess = 0,
  musaErrorInvalidValue = 1,
  musaErrorMemoryAllocation = 2,
  musaErrorInitializationError = 3,
  musaErrorDeinitialized = 4,
  musaErrorInvalidMemcpyDirection = 21,
  musaErrorInsufficientDriver = 35,
  musaErrorNoDevice = 38,
  musaErrorInvalidDevice = 101,
  musaErrorInvalidResourceHandle = 400,
  musaErrorNotReady = 600,
  musaErrorIllegalAddress = 700,
  musaErrorPeerAccessAlreadyEnabled = 704,
  musaErrorPeerAccessNotEnabled = 705,
  musaErrorHostMemoryAlreadyRegistered = 712,
  musaErrorHostMemoryNotRegistered = 713,
  musaErrorLaunchFailure = 719,
  musaErrorNotPermitted = 800,
  musaErrorNotSupported = 801,
  musaErrorUnknown = 999
} musaError_t;

typedef struct MUstream_st* musaStream_t; /* NULL: the default stream of the current device */
typedef struct MUevent_st* musaEvent_t;

typedef enum musaMemcpyKind { /* numbers: guess */
                              musaMemcpyHostToHost = 0,
                              musaMemcpyHostToDevice = 1,
                              musaMemcpyDeviceToHost = 2,
                              musaMemcpyDeviceToDevice = 3,
                              musaMemcpyDefault = 4 /* the addresses say which */
} musaMemcpyKind;

typedef enum musaMemoryType { /* numbers: guess */
                              musaMemoryTypeUnregistered = 0,
                              musaMemoryTypeHost = 1,
                              musaMemoryTypeDevice = 2,
                              musaMemoryTypeManaged = 3
} musaMemoryType;

typedef struct musaPointerAttributes {
  enum musaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
} musaPointerAttributes;

/* Flags: CUDA's numbers (guess). */
#define musaStreamDefault 0x00u
#define musaStreamNonBlocking 0x01u /* takes no part in the default stream's implicit ordering */
#define musaEventDefault 0x00u
#define musaEventBlockingSync 0x01u
#define musaEventDisableTiming 0x02u
#define musaEventInterprocess 0x04u
#define musaHostAllocDefault 0x00u
#define musaHostAllocPortable 0x01u
#define musaHostAllocMapped 0x02u
#define musaHostAllocWriteCombined 0x04u
#define musaHostRegisterDefault 0x00u
#define musaHostRegisterPortable 0x01u
#define musaHostRegisterMapped 0x02u
#define musaMemAttachGlobal 0x01u
#define musaIpcMemLazyEnablePeerAccess 0x01u

typedef enum musaDeviceAttr { /* names in public use; numbers are CUDA's: guess */
                              musaDevAttrMaxThreadsPerBlock = 1,
                              musaDevAttrMaxSharedMemoryPerBlock = 8,
                              musaDevAttrWarpSize = 10,
                              musaDevAttrClockRate = 13,
                              musaDevAttrMultiProcessorCount = 16,
                              musaDevAttrIntegrated = 18,
                              musaDevAttrL2CacheSize = 38,
                              musaDevAttrMaxThreadsPerMultiProcessor = 39,
                              musaDevAttrUnifiedAddressing = 41,
                              musaDevAttrComputeCapabilityMajor = 75,
                              musaDevAttrComputeCapabilityMinor = 76,
                              musaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
                              musaDevAttrMaxRegistersPerMultiprocessor = 82,
                              musaDevAttrManagedMemory = 83,
                              musaDevAttrMaxSharedMemoryPerBlockOptin = 97,
                              musaDevAttrMemoryPoolsSupported = 115
} musaDeviceAttr;

typedef struct musaUUID {
  char bytes[16];
} musaUUID_t;

typedef struct musaDeviceProp { /* field names are CUDA's; their order and what is left out here: guess */
  char name[256];
  musaUUID_t uuid;
  size_t totalGlobalMem;    /* bytes */
  size_t sharedMemPerBlock; /* bytes */
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; /* kHz */
  size_t totalConstMem;
  int major, minor; /* compute capability */
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID, pciDeviceID, pciDomainID;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate; /* kHz */
  int memoryBusWidth;  /* bits */
  int l2CacheSize;     /* bytes */
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  size_t sharedMemPerMultiprocessor; /* bytes */
  int regsPerMultiprocessor;
  int managedMemory;
  size_t sharedMemPerBlockOptin; /* bytes */
} musaDeviceProp;

typedef struct musaIpcMemHandle_st {
  char reserved[64]; /* size: guess */
} musaIpcMemHandle_t;

/* versions are numbers as MUSART_VERSION; the last error is the calling thread's */
musaError_t musaDriverGetVersion(int* version);
musaError_t musaRuntimeGetVersion(int* version);
const char* musaGetErrorName(musaError_t error);
const char* musaGetErrorString(musaError_t error);
musaError_t musaGetLastError(void); /* and forgets it */
musaError_t musaPeekAtLastError(void);

/* devices */
musaError_t musaGetDeviceCount(int* count);
musaError_t musaGetDevice(int* device);
musaError_t musaSetDevice(int device);
musaError_t musaDeviceSynchronize(void);
musaError_t musaDeviceGetAttribute(int* value, musaDeviceAttr attribute, int device);
musaError_t musaGetDeviceProperties(musaDeviceProp* properties, int device);
musaError_t musaDeviceGetStreamPriorityRange(int* least, int* greatest);
musaError_t musaDeviceCanAccessPeer(int* yes, int device, int peer);
musaError_t musaDeviceEnablePeerAccess(int peer, unsigned int flags); /* of the current device to `peer`; flags: 0 */

/* memory */
musaError_t musaMalloc(void** address, size_t bytes);
musaError_t musaFree(void* address);
musaError_t musaMallocHost(void** address, size_t bytes);
musaError_t musaHostAlloc(void** address, size_t bytes, unsigned int flags);
musaError_t musaFreeHost(void* address);
musaError_t musaHostRegister(void* address, size_t bytes, unsigned int flags);
musaError_t musaHostUnregister(void* address);
musaError_t musaHostGetDevicePointer(void** device_address, void* host_address, unsigned int flags);
musaError_t musaMallocManaged(void** address, size_t bytes, unsigned int flags);
musaError_t musaMallocAsync(void** address, size_t bytes, musaStream_t stream);
musaError_t musaFreeAsync(void* address, musaStream_t stream);
musaError_t musaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
musaError_t musaPointerGetAttributes(musaPointerAttributes* attributes, const void* address);
musaError_t musaIpcGetMemHandle(musaIpcMemHandle_t* handle, void* address);
musaError_t musaIpcOpenMemHandle(void** address, musaIpcMemHandle_t handle, unsigned int flags);
musaError_t musaIpcCloseMemHandle(void* address);

/* transfers */
musaError_t musaMemcpy(void* to, const void* from, size_t bytes, musaMemcpyKind kind);
musaError_t musaMemcpyAsync(void* to, const void* from, size_t bytes, musaMemcpyKind kind, musaStream_t stream);
musaError_t musaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, musaStream_t stream);
musaError_t musaMemset(void* to, int byte, size_t bytes);
musaError_t musaMemsetAsync(void* to, int byte, size_t bytes, musaStream_t stream);

/* streams; a lower number is a higher priority */
musaError_t musaStreamCreate(musaStream_t* stream);
musaError_t musaStreamCreateWithFlags(musaStream_t* stream, unsigned int flags);
musaError_t musaStreamCreateWithPriority(musaStream_t* stream, unsigned int flags, int priority);
musaError_t musaStreamGetPriority(musaStream_t stream, int* priority);
musaError_t musaStreamDestroy(musaStream_t stream);
musaError_t musaStreamQuery(musaStream_t stream); /* musaErrorNotReady while work is pending */
musaError_t musaStreamSynchronize(musaStream_t stream);
musaError_t musaStreamWaitEvent(musaStream_t stream, musaEvent_t event, unsigned int flags);

/* events; times in milliseconds */
musaError_t musaEventCreate(musaEvent_t* event);
musaError_t musaEventCreateWithFlags(musaEvent_t* event, unsigned int flags);
musaError_t musaEventDestroy(musaEvent_t event);
musaError_t musaEventRecord(musaEvent_t event, musaStream_t stream);
musaError_t musaEventQuery(musaEvent_t event);
musaError_t musaEventSynchronize(musaEvent_t event);
musaError_t musaEventElapsedTime(float* milliseconds, musaEvent_t start, musaEvent_t end);

#ifdef __cplusplus
}
#endif
#endif
