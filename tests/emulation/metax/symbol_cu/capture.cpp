// SPDX-License-Identifier: Apache-2.0
// Graphs: the emulated device records none, which is all that PyTorch asks when it only wants to know.
#include "bridge.h"

extern "C" {

mcError_t cudaStreamIsCapturing(mcStream_t stream, int* status) {
  if (!status) return mcErrorInvalidValue;
  *status = 0;
  const mcError_t state = bridge::forwarded([=] { return mcStreamQuery(stream); });
  return state == mcErrorNotReady ? mcSuccess : state;
}

mcError_t cudaStreamGetCaptureInfo(mcStream_t stream, int* status, unsigned long long* id) {
  if (id) *id = 0;
  return cudaStreamIsCapturing(stream, status);
}

mcError_t cudaThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  if (!mode || *mode < 0 || *mode > 2) return mcErrorInvalidValue;
  const int former = current;
  current = *mode;
  *mode = former;
  return mcSuccess;
}
}
