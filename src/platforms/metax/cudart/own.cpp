// SPDX-License-Identifier: Apache-2.0
// own.cpp: functions of CUDA 12 that cu-bridge, at the level of 11.6, has not, or answers otherwise.
#include <cstddef>
#include <cstring>

#include "bridge.h"

using namespace torch_fl::cudart;

namespace {

// cudaDeviceProp of CUDA 12 is that of 11 (728 bytes) with fields appended: compared in NVIDIA's driver_types.h of 11.8 and 12.9.
constexpr size_t kProperties = 1032;

template <typename Function, typename... Arguments>
int ask_bridge(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<Function>(of_bridge(name));
  return function ? function(arguments...) : kNotSupported;
}

int answer(int* where, int value) {
  if (!where) return kInvalidValue;
  *where = value;
  return kSuccess;
}

}  // namespace

extern "C" {

// Consumers refuse a runtime, or a driver, that is older than what they were compiled for.
int cudaRuntimeGetVersion(int* version) { return answer(version, kVersion); }
int cudaDriverGetVersion(int* version) { return answer(version, kVersion); }

int cudaGetDeviceProperties_v2(void* properties, int device) {
  if (!properties) return kInvalidValue;
  alignas(std::max_align_t) char theirs[kProperties] = {};
  const int status = ask_bridge<int (*)(void*, int)>("cudaGetDeviceProperties", static_cast<void*>(theirs), device);
  if (status == kSuccess) std::memcpy(properties, theirs, kProperties);
  return status;
}

// Of a capture only whether there is one can be told.
int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph, const void*** dependencies, size_t* count) {
  if (id) *id = 0;
  if (graph) *graph = nullptr;
  if (dependencies) *dependencies = nullptr;
  if (count) *count = 0;
  if (!status) return kInvalidValue;
  *status = 0;  // none
  const int asked = ask_bridge<int (*)(void*, int*)>("cudaStreamIsCapturing", stream, status);
  return asked == kNotSupported ? kSuccess : asked;
}

// There is no driver interface of NVIDIA's behind this runtime.
int cudaGetDriverEntryPoint(const char*, void** function, unsigned long long, int* found) {
  if (function) *function = nullptr;
  if (found) *found = 1;  // cudaDriverEntryPointSymbolNotFound
  return function ? kSuccess : kInvalidValue;
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long flags, int* found) {
  return cudaGetDriverEntryPoint(name, function, flags, found);
}

int cudaProfilerStart() { return kSuccess; }
int cudaProfilerStop() { return kSuccess; }

// Device code of NVIDIA's cards, which a program brings along, is registered and never launched here.
void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }
unsigned __cudaPushCallConfiguration() { return kNotSupported; }
int __cudaPopCallConfiguration(void*, void*, size_t*, void*) { return kNotSupported; }
}
