/* SPDX-License-Identifier: Apache-2.0
 * maca.h: types and numbers of the MACA runtime, as far as torch-fl uses them, declared anew from public listings and call sites.
 *
 * This is not the vendor's header. "guess" marks what no public source confirms: the runtime mirrors CUDA's, so CUDA's numbers and
 * layouts are assumed. Code that is compiled against the vendor's header takes the vendor's; nothing in src/ repeats one of ours.
 */
#ifndef MACA_H
#define MACA_H

#include <stddef.h>

#define MACA_VERSION 30801 /* of MACA 3.8.1.3: guess */

/* Up to 999 CUDA's numbers, from 10000 on the vendor's own; both from a public listing. */
typedef enum mcError_t {
  mcSuccess = 0,
  mcErrorInvalidValue = 1,
  mcErrorMemoryAllocation = 2,
  mcErrorInitializationError = 3,
  mcErrorDeinitialized = 4,
  mcErrorInvalidConfiguration = 9,
  mcErrorInvalidSymbol = 13,
  mcErrorInvalidDevicePointer = 17,
  mcErrorInvalidMemcpyDirection = 21,
  mcErrorInsufficientDriver = 35,
  mcErrorNoDevice = 100,
  mcErrorInvalidDevice = 101,
  mcErrorInvalidResourceHandle = 400,
  mcErrorNotReady = 600,
  mcErrorIllegalAddress = 700,
  mcErrorPeerAccessAlreadyEnabled = 704,
  mcErrorPeerAccessNotEnabled = 705,
  mcErrorHostMemoryAlreadyRegistered = 712,
  mcErrorHostMemoryNotRegistered = 713,
  mcErrorLaunchFailure = 719,
  mcErrorNotPermitted = 800,
  mcErrorNotSupported = 801,
  mcErrorStreamCaptureUnsupported = 900,
  mcErrorUnknown = 999,
  mcErrorApiFailureBase = 10000,
  mcErrorDockerDriverUnload = 10001,
  mcErrorDriverWarmReset = 10002,
  mcErrorDriverMismatch = 10003,
  mcErrorInvalidParameter = 10004,
  mcErrorNoMemory = 10007,
  mcErrorNotImplemented = 10010,
  mcErrorWaitTimeout = 10018,
  mcErrorBusy = 10031,
  mcErrorKernelExecTimeout = 10032
} mcError_t;

typedef struct MCstream_st* mcStream_t; /* NULL: the default stream of the current device */
typedef struct MCevent_st* mcEvent_t;
typedef void* mcDeviceptr_t;
typedef void (*mcHostFn_t)(void* argument);

typedef enum mcMemcpyKind {
  mcMemcpyHostToHost = 0,
  mcMemcpyHostToDevice = 1,
  mcMemcpyDeviceToHost = 2,
  mcMemcpyDeviceToDevice = 3,
  mcMemcpyDefault = 4 /* the addresses say which */
} mcMemcpyKind;

typedef enum mcMemoryType { /* names in public use; numbers: guess */
  mcMemoryTypeUnregistered = 0,
  mcMemoryTypeHost = 1,
  mcMemoryTypeDevice = 2,
  mcMemoryTypeManaged = 3
} mcMemoryType;

typedef struct mcPointerAttribute_t { /* type and devicePointer are in public use; the rest: guess */
  enum mcMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
} mcPointerAttribute_t;

/* Flags: names in public use, CUDA's numbers (guess). */
#define mcStreamDefault 0x00u
#define mcStreamNonBlocking 0x01u /* takes no part in the default stream's implicit ordering */
#define mcEventDefault 0x00u
#define mcEventBlockingSync 0x01u
#define mcEventDisableTiming 0x02u
#define mcEventInterprocess 0x04u
#define mcEventRecordDefault 0x00u
#define mcEventWaitDefault 0x00u
#define mcHostRegisterDefault 0x00u
#define mcHostRegisterPortable 0x01u
#define mcHostRegisterMapped 0x02u
#define mcHostRegisterIoMemory 0x04u
#define mcMemAttachGlobal 0x01u
#define mcIpcMemLazyEnablePeerAccess 0x01u

/* In the vendor's own order, which is not CUDA's. The order is that of a public listing; that it begins with 0 is a guess, with which the
 * numbers 10, 16, 21 and 22 in public use agree. */
typedef enum mcDeviceAttribute_t {
  mcDeviceAttributeMaxThreadsPerBlock = 0,
  mcDeviceAttributeMaxBlockDimX = 1,
  mcDeviceAttributeMaxBlockDimY = 2,
  mcDeviceAttributeMaxBlockDimZ = 3,
  mcDeviceAttributeMaxGridDimX = 4,
  mcDeviceAttributeMaxGridDimY = 5,
  mcDeviceAttributeMaxGridDimZ = 6,
  mcDeviceAttributeMaxSharedMemoryPerBlock = 7,
  mcDeviceAttributeTotalConstantMemory = 8,
  mcDeviceAttributeWarpSize = 9,
  mcDeviceAttributeWaveSize = 10,
  mcDeviceAttributeMaxRegistersPerBlock = 11,
  mcDeviceAttributeMaxRegistersPerMultiprocessor = 12,
  mcDeviceAttributeClockRate = 13,
  mcDeviceAttributeMemoryClockRate = 14,
  mcDeviceAttributeMemoryBusWidth = 15,
  mcDeviceAttributeMultiProcessorCount = 16,
  mcDeviceAttributeComputeMode = 17,
  mcDeviceAttributeL2CacheSize = 18,
  mcDeviceAttributeMaxThreadsPerMultiProcessor = 19,
  mcDevAttrMaxBlocksPerMultiprocessor = 20,
  mcDeviceAttributeComputeCapabilityMajor = 21,
  mcDeviceAttributeComputeCapabilityMinor = 22,
  mcDeviceAttributeConcurrentKernels = 23,
  mcDeviceAttributePciBusId = 24,
  mcDeviceAttributePciDeviceId = 25,
  mcDeviceAttributeMaxSharedMemoryPerMultiprocessor = 26,
  mcDeviceAttributeIsMultiGpuBoard = 27,
  mcDeviceAttributeIntegrated = 28
} mcDeviceAttribute_t;

typedef struct mcUuid_t {
  char bytes[16];
} mcUuid_t;

/* name, totalGlobalMem, waveSize, maxThreadsPerBlock, clockRate, major, minor, multiProcessorCount, pciBusID, l2CacheSize and
 * sharedMemPerBlockOptin are in public use; the other names are CUDA's, and the order of all: guess. */
typedef struct mcDeviceProp_t {
  char name[256];
  mcUuid_t uuid;
  size_t totalGlobalMem;    /* bytes */
  size_t sharedMemPerBlock; /* bytes */
  int regsPerBlock;
  int waveSize; /* what CUDA calls a warp */
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; /* kHz */
  size_t totalConstMem;
  int major, minor; /* compute capability, or the architecture: see the quirk `capability` */
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int pciBusID, pciDeviceID, pciDomainID;
  int memoryClockRate; /* kHz */
  int memoryBusWidth;  /* bits */
  int l2CacheSize;     /* bytes */
  int maxThreadsPerMultiProcessor;
  size_t sharedMemPerMultiprocessor; /* bytes */
  int regsPerMultiprocessor;
  size_t sharedMemPerBlockOptin; /* bytes */
} mcDeviceProp_t;

typedef struct mcIpcMemHandle_t {
  char reserved[64]; /* size: guess */
} mcIpcMemHandle_t;

#endif
