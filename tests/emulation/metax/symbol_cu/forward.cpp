// SPDX-License-Identifier: Apache-2.0
// The table of functions that are the MACA runtime's under another name.
#include "bridge.h"

using Ipc = mcIpcMemHandle_t;
using Kind = mcMemcpyKind;

#define FORWARD0(cuda, mc)                         \
  mcError_t cuda() {                               \
    return bridge::forwarded([] { return mc(); }); \
  }
#define FORWARD1(cuda, mc, A)                        \
  mcError_t cuda(A a) {                              \
    return bridge::forwarded([=] { return mc(a); }); \
  }
#define FORWARD2(cuda, mc, A, B)                        \
  mcError_t cuda(A a, B b) {                            \
    return bridge::forwarded([=] { return mc(a, b); }); \
  }
#define FORWARD3(cuda, mc, A, B, C)                        \
  mcError_t cuda(A a, B b, C c) {                          \
    return bridge::forwarded([=] { return mc(a, b, c); }); \
  }
#define FORWARD4(cuda, mc, A, B, C, D)                        \
  mcError_t cuda(A a, B b, C c, D d) {                        \
    return bridge::forwarded([=] { return mc(a, b, c, d); }); \
  }
#define FORWARD5(cuda, mc, A, B, C, D, E)                        \
  mcError_t cuda(A a, B b, C c, D d, E e) {                      \
    return bridge::forwarded([=] { return mc(a, b, c, d, e); }); \
  }
#define FORWARD6(cuda, mc, A, B, C, D, E, F)                        \
  mcError_t cuda(A a, B b, C c, D d, E e, F f) {                    \
    return bridge::forwarded([=] { return mc(a, b, c, d, e, f); }); \
  }

extern "C" {

// clang-format off
FORWARD0(cudaDeviceSynchronize, mcDeviceSynchronize)
FORWARD0(cudaThreadSynchronize, mcDeviceSynchronize)
FORWARD0(cudaDeviceReset, mcDeviceReset)
FORWARD2(cudaDeviceGetStreamPriorityRange, mcDeviceGetStreamPriorityRange, int*, int*)
FORWARD3(cudaDeviceCanAccessPeer, mcDeviceCanAccessPeer, int*, int, int)
FORWARD2(cudaDeviceEnablePeerAccess, mcDeviceEnablePeerAccess, int, unsigned)
FORWARD3(cudaDeviceGetPCIBusId, mcDeviceGetPCIBusId, char*, int, int)
FORWARD2(cudaDeviceGetByPCIBusId, mcDeviceGetByPCIBusId, int*, const char*)

FORWARD2(cudaMalloc, mcMalloc, void**, size_t)
FORWARD1(cudaFree, mcFree, void*)
FORWARD2(cudaMallocHost, mcMallocHost, void**, size_t)
FORWARD1(cudaFreeHost, mcFreeHost, void*)
FORWARD3(cudaMallocAsync, mcMallocAsync, void**, size_t, mcStream_t)
FORWARD2(cudaFreeAsync, mcFreeAsync, void*, mcStream_t)
FORWARD3(cudaMallocManaged, mcMallocManaged, void**, size_t, unsigned)
FORWARD3(cudaHostRegister, mcHostRegister, void*, size_t, unsigned)
FORWARD1(cudaHostUnregister, mcHostUnregister, void*)
FORWARD3(cudaHostGetDevicePointer, mcHostGetDevicePointer, void**, void*, unsigned)
FORWARD2(cudaMemGetInfo, mcMemGetInfo, size_t*, size_t*)
FORWARD2(cudaPointerGetAttributes, mcPointerGetAttributes, mcPointerAttribute_t*, const void*)
FORWARD2(cudaIpcGetMemHandle, mcIpcGetMemHandle, Ipc*, void*)
FORWARD3(cudaIpcOpenMemHandle, mcIpcOpenMemHandle, void**, Ipc, unsigned)
FORWARD1(cudaIpcCloseMemHandle, mcIpcCloseMemHandle, void*)

FORWARD4(cudaMemcpy, mcMemcpy, void*, const void*, size_t, Kind)
FORWARD5(cudaMemcpyAsync, mcMemcpyAsync, void*, const void*, size_t, Kind, mcStream_t)
FORWARD6(cudaMemcpyPeerAsync, mcMemcpyPeerAsync, void*, int, const void*, int, size_t, mcStream_t)
FORWARD3(cudaMemset, mcMemset, void*, int, size_t)
FORWARD4(cudaMemsetAsync, mcMemsetAsync, void*, int, size_t, mcStream_t)

FORWARD1(cudaStreamCreate, mcStreamCreate, mcStream_t*)
FORWARD2(cudaStreamCreateWithFlags, mcStreamCreateWithFlags, mcStream_t*, unsigned)
FORWARD3(cudaStreamCreateWithPriority, mcStreamCreateWithPriority, mcStream_t*, unsigned, int)
FORWARD2(cudaStreamGetPriority, mcStreamGetPriority, mcStream_t, int*)
FORWARD1(cudaStreamDestroy, mcStreamDestroy, mcStream_t)
FORWARD1(cudaStreamQuery, mcStreamQuery, mcStream_t)
FORWARD1(cudaStreamSynchronize, mcStreamSynchronize, mcStream_t)
FORWARD3(cudaStreamWaitEvent, mcStreamWaitEvent, mcStream_t, mcEvent_t, unsigned)
FORWARD3(cudaLaunchHostFunc, mcLaunchHostFunc, mcStream_t, mcHostFn_t, void*)

FORWARD1(cudaEventCreate, mcEventCreate, mcEvent_t*)
FORWARD2(cudaEventCreateWithFlags, mcEventCreateWithFlags, mcEvent_t*, unsigned)
FORWARD1(cudaEventDestroy, mcEventDestroy, mcEvent_t)
FORWARD2(cudaEventRecord, mcEventRecord, mcEvent_t, mcStream_t)
FORWARD3(cudaEventRecordWithFlags, mcEventRecordWithFlags, mcEvent_t, mcStream_t, unsigned)
FORWARD1(cudaEventQuery, mcEventQuery, mcEvent_t)
FORWARD1(cudaEventSynchronize, mcEventSynchronize, mcEvent_t)
FORWARD3(cudaEventElapsedTime, mcEventElapsedTime, float*, mcEvent_t, mcEvent_t)
// clang-format on

// CUDA's flags say how the memory is mapped, which all page-locked memory of a MACA device is.
mcError_t cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return flags > 7 ? mcErrorInvalidValue : cudaMallocHost(address, bytes);
}
}
