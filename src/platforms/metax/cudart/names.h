// SPDX-License-Identifier: Apache-2.0
// names.h: the runtime functions that are cu-bridge's as they are. Those that a version of cu-bridge does not have answer
// cudaErrorNotSupported when they are called.
#pragma once

#define TORCH_FL_FORWARDED(X)                                                                                             \
  X(cudaDeviceCanAccessPeer) X(cudaDeviceDisablePeerAccess) X(cudaDeviceEnablePeerAccess) X(cudaDeviceGetAttribute)       \
  X(cudaDeviceGetByPCIBusId) X(cudaDeviceGetDefaultMemPool) X(cudaDeviceGetLimit) X(cudaDeviceGetPCIBusId)                \
  X(cudaDeviceGetStreamPriorityRange) X(cudaDeviceReset) X(cudaDeviceSetLimit) X(cudaDeviceSynchronize)                   \
  X(cudaEventCreate) X(cudaEventCreateWithFlags) X(cudaEventDestroy) X(cudaEventElapsedTime) X(cudaEventQuery)            \
  X(cudaEventRecord) X(cudaEventRecordWithFlags) X(cudaEventSynchronize)                                                  \
  X(cudaFree) X(cudaFreeAsync) X(cudaFreeHost) X(cudaFuncGetAttributes) X(cudaFuncSetAttribute)                           \
  X(cudaGetDevice) X(cudaGetDeviceCount) X(cudaGetDeviceProperties) X(cudaGetErrorName) X(cudaGetErrorString)             \
  X(cudaGetLastError) X(cudaGraphDestroy) X(cudaGraphExecDestroy) X(cudaGraphGetNodes) X(cudaGraphInstantiate)            \
  X(cudaGraphInstantiateWithFlags) X(cudaGraphLaunch) X(cudaHostAlloc) X(cudaHostGetDevicePointer) X(cudaHostRegister)    \
  X(cudaHostUnregister) X(cudaIpcCloseMemHandle) X(cudaIpcGetEventHandle) X(cudaIpcGetMemHandle)                          \
  X(cudaIpcOpenEventHandle) X(cudaIpcOpenMemHandle) X(cudaLaunchCooperativeKernel) X(cudaLaunchHostFunc)                  \
  X(cudaLaunchKernel) X(cudaLaunchKernelExC) X(cudaMalloc) X(cudaMallocAsync) X(cudaMallocHost) X(cudaMallocManaged)      \
  X(cudaMemGetInfo) X(cudaMemPoolSetAttribute) X(cudaMemPoolTrimTo) X(cudaMemcpy) X(cudaMemcpy2DAsync)                    \
  X(cudaMemcpyAsync) X(cudaMemcpyFromSymbol) X(cudaMemcpyPeer) X(cudaMemcpyPeerAsync) X(cudaMemcpyToSymbol)               \
  X(cudaMemset) X(cudaMemsetAsync) X(cudaOccupancyMaxActiveBlocksPerMultiprocessor)                                       \
  X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cudaPeekAtLastError) X(cudaPointerGetAttributes)            \
  X(cudaSetDevice) X(cudaStreamBeginCapture) X(cudaStreamCreate) X(cudaStreamCreateWithFlags)                             \
  X(cudaStreamCreateWithPriority) X(cudaStreamDestroy) X(cudaStreamEndCapture) X(cudaStreamGetPriority)                   \
  X(cudaStreamIsCapturing) X(cudaStreamQuery) X(cudaStreamSynchronize) X(cudaStreamWaitEvent)                             \
  X(cudaThreadExchangeStreamCaptureMode)
