// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <c10/cuda/CUDAStream.h>

#include <tuple>

#include "on_device.h"

namespace flagos::cuda {
namespace {

// A query's "no" is an answer, not an error.
flagos_status answer(cudaError_t error, const char* function, const char* attempt) {
  if (error != cudaErrorNotReady) return check(error, function, "%s", attempt);
  cudaGetLastError();
  return fail(FLAGOS_ERROR_NOT_READY, "work is pending");
}

}  // namespace

flagos_status stream_priority_range(int32_t* least, int32_t* greatest) {
  std::tie(*least, *greatest) = c10::cuda::CUDAStream::priority_range();  // those of PyTorch's pools, which CUDA's exceed
  return FLAGOS_SUCCESS;
}

flagos_status stream_create(int32_t device, int32_t priority, flagos_stream* out) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  cudaStream_t made = nullptr;
  const auto status = check(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, priority), "cudaStreamCreateWithPriority",
                            "make a stream on flagos:%d", device);
  *out = reinterpret_cast<flagos_stream>(made);
  return status;
}

flagos_status stream_destroy(flagos_stream stream) {
  return check(cudaStreamDestroy(native(stream)), "cudaStreamDestroy", "destroy a stream");
}

flagos_status stream_query(int32_t device, flagos_stream stream) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return answer(cudaStreamQuery(native(stream)), "cudaStreamQuery", "look at a stream");
}

flagos_status stream_synchronize(int32_t device, flagos_stream stream) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(cudaStreamSynchronize(native(stream)), "cudaStreamSynchronize", "finish the work of a stream of flagos:%d", device);
}

flagos_status stream_wait_event(int32_t device, flagos_stream stream, flagos_event event) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(cudaStreamWaitEvent(native(stream), native(event), 0), "cudaStreamWaitEvent",
               "have a stream of flagos:%d wait for an event", device);
}

flagos_status event_create(int32_t device, int32_t enable_timing, flagos_event* out) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  cudaEvent_t made = nullptr;
  const auto status = check(cudaEventCreateWithFlags(&made, enable_timing ? cudaEventDefault : cudaEventDisableTiming),
                            "cudaEventCreateWithFlags", "make an event on flagos:%d", device);
  *out = reinterpret_cast<flagos_event>(made);
  return status;
}

flagos_status event_destroy(flagos_event event) {
  if (!event) return FLAGOS_SUCCESS;
  return check(cudaEventDestroy(native(event)), "cudaEventDestroy", "destroy an event");
}

flagos_status event_record(flagos_event event, int32_t device, flagos_stream stream) {
  const OnDevice scope(device);
  if (scope.status() != FLAGOS_SUCCESS) return scope.status();
  return check(cudaEventRecord(native(event), native(stream)), "cudaEventRecord", "record an event on flagos:%d", device);
}

flagos_status event_query(flagos_event event) { return answer(cudaEventQuery(native(event)), "cudaEventQuery", "look at an event"); }

flagos_status event_synchronize(flagos_event event) {
  return check(cudaEventSynchronize(native(event)), "cudaEventSynchronize", "wait for an event");
}

flagos_status event_elapsed(flagos_event start, flagos_event end, double* milliseconds) {
  float elapsed = 0;
  const cudaError_t error = cudaEventElapsedTime(&elapsed, native(start), native(end));
  *milliseconds = elapsed;
  if (error != cudaErrorNotReady) return check(error, "cudaEventElapsedTime", "read the time between two events");
  cudaGetLastError();
  return fail(FLAGOS_ERROR_NOT_READY, "elapsed time: an event is not reached yet; synchronise first");
}

}  // namespace flagos::cuda
