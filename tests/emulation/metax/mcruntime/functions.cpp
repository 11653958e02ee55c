// SPDX-License-Identifier: Apache-2.0
// What the MACA runtime has beside the functions of base/runtime.
#include <cstdio>
#include <cstring>
#include <memory>

#include "call.h"
#include "contract.h"

using namespace runtime;

namespace {

// The name of a device that is there.
template <typename Body>
mcError_t of_device(const char* function, int device, Body&& body) {
  return call(function, [&]() -> mcError_t {
    if (device >= 0 && device < visible_devices()) return body();
    return refuse(mcErrorInvalidDevice, "%s: there is no device %d", function, device);
  });
}

mcError_t copy_text(char* to, int length, const char* text) {
  if (!to || length <= static_cast<int>(std::strlen(text))) return mcErrorInvalidValue;
  std::strcpy(to, text);
  return mcSuccess;
}

struct PciBusId {
  explicit PciBusId(int device) { std::snprintf(text, sizeof(text), "0000:%02x:00.0", physical(device)); }
  char text[16];
};

}  // namespace

extern "C" {

mcError_t mcDeviceReset() { return mcDeviceSynchronize(); }

mcError_t mcDeviceGetName(char* name, int length, int device) {
  return of_device(__func__, device, [&] { return copy_text(name, length, properties(physical(device), 0).name); });
}

mcError_t mcDeviceGetPCIBusId(char* id, int length, int device) {
  return of_device(__func__, device, [&] { return copy_text(id, length, PciBusId(device).text); });
}

mcError_t mcDeviceGetByPCIBusId(int* device, const char* id) {
  return call(__func__, [&]() -> mcError_t {
    for (int index = 0; device && id && index < visible_devices(); ++index)
      if (std::strcmp(id, PciBusId(index).text) == 0) {
        *device = index;
        return mcSuccess;
      }
    return mcErrorInvalidValue;
  });
}

mcError_t mcEventRecordWithFlags(mcEvent_t event, mcStream_t stream, unsigned int flags) {
  return flags == mcEventRecordDefault ? mcEventRecord(event, stream) : remember(mcErrorInvalidValue);
}

mcError_t mcLaunchHostFunc(mcStream_t stream, mcHostFn_t function, void* argument) {
  return call(__func__, [&]() -> mcError_t {
    const auto target = emulation::find_stream(stream);
    if (!target) return refuse(mcErrorInvalidResourceHandle, "mcLaunchHostFunc: not a stream");
    if (!function) return refuse(mcErrorInvalidValue, "mcLaunchHostFunc: the function is NULL");
    struct Work {
      mcHostFn_t function;
      void* argument;
    };
    const auto run = [](void* given) -> flagos_host_result {
      const std::unique_ptr<Work> work(static_cast<Work*>(given));
      work->function(work->argument);
      return {FLAGOS_SUCCESS, nullptr, nullptr};
    };
    emulation::ordered(*target).submit(host::Call{run, new Work{function, argument}});
    return mcSuccess;
  });
}
}
