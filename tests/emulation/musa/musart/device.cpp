// SPDX-License-Identifier: Apache-2.0
// Devices: which there are, which is current, what they can do.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "call.h"
#include "current_device.h"
#include "devices.h"
#include "emulation/quirks.h"
#include "contract.h"
#include "memory.h"
#include "streams.h"

const char* const emulation::launch_call_name = "musaLaunchKernel";
const char* const emulation::compiled_launch_call_name = "muLaunchKernel";

namespace musart {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// FLAGOS_EMULATION_DRIVER=none: a machine without the vendor's driver.
bool driver_missing() { return variable("FLAGOS_EMULATION_DRIVER") == "none"; }

// FLAGOS_EMULATION_VERSION: another version of the runtime and the driver, as musaRuntimeGetVersion counts.
int version() {
  const auto text = variable("FLAGOS_EMULATION_VERSION");
  int number = MUSART_VERSION;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// MUSA_VISIBLE_DEVICES is read as CUDA's variable is: numbers, in the order in which they are counted anew, up to the first one
// that does not exist; none at all when one comes twice.
std::vector<int> read_visible(int count) {
  std::vector<int> devices;
  const char* list = std::getenv("MUSA_VISIBLE_DEVICES");
  if (!list) {
    for (int device = 0; device < count; ++device) devices.push_back(device);
    return devices;
  }
  for (std::string_view rest = list; !rest.empty();) {
    const auto word = rest.substr(0, rest.find(','));
    int device = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), device);
    if (error != std::errc() || end != word.data() + word.size() || device < 0 || device >= count) break;
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) return {};
    devices.push_back(device);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return devices;
}

int base_devices() {
  int32_t count = 0;
  return host::device_count(&count) == FLAGOS_SUCCESS ? count : -1;
}

// Fixed once the base has started; before, the environment may still change.
const std::vector<int>& visible() {
  static const auto* devices = new std::vector<int>(read_visible(base_devices()));
  return *devices;
}

musaError_t check_device(int device) {
  if (device >= 0 && device < visible_devices()) return musaSuccess;
  return refuse(musaErrorInvalidDevice, "there is no MUSA device %d, only %d of them", device, visible_devices());
}

// What is known of an MTT S5000: capability 3.1, 60 multiprocessors. The rest is a guess.
musaDeviceProp properties(int device) {
  musaDeviceProp out{};
  size_t free_bytes = 0, total = 0;
  host::memory_info(device, &free_bytes, &total);
  std::strcpy(out.name, "MTT S5000 (emulated)");
  std::snprintf(out.uuid.bytes, sizeof(out.uuid.bytes), "emulated-musa%02d", physical(device));
  out.totalGlobalMem = total;
  out.sharedMemPerBlock = 48 << 10;
  out.sharedMemPerBlockOptin = 192 << 10;
  out.sharedMemPerMultiprocessor = 192 << 10;
  out.regsPerBlock = out.regsPerMultiprocessor = 64 << 10;
  out.warpSize = 32;
  out.memPitch = 0x7fffffff;
  out.maxThreadsPerBlock = 1024;
  out.maxThreadsPerMultiProcessor = 2048;
  std::fill_n(out.maxThreadsDim, 3, 1024);
  out.maxThreadsDim[2] = 64;
  std::fill_n(out.maxGridSize, 3, 0xffff);
  out.maxGridSize[0] = 0x7fffffff;
  out.clockRate = 1'750'000;
  out.totalConstMem = 64 << 10;
  out.major = 3;
  out.minor = 1;
  out.multiProcessorCount = 60;
  out.canMapHostMemory = out.concurrentKernels = out.unifiedAddressing = out.streamPrioritiesSupported = 1;
  out.pciBusID = physical(device);
  out.asyncEngineCount = 2;
  out.memoryClockRate = 1'600'000;
  out.memoryBusWidth = 4096;
  out.l2CacheSize = 32 << 20;
  return out;
}

std::mutex peers_mutex;
std::set<std::pair<int, int>>& peers() {  // (device, peer) with access enabled; guarded by peers_mutex
  static auto* pairs = new std::set<std::pair<int, int>>();
  return *pairs;
}

}  // namespace

int visible_devices() { return static_cast<int>(visible().size()); }
int physical(int device) { return visible()[device]; }

musaError_t started() {
  if (driver_missing()) return refuse(musaErrorInsufficientDriver, "FLAGOS_EMULATION_DRIVER=none: no driver");
  if (emulation::start() != FLAGOS_SUCCESS) return musaErrorInitializationError;
  if (visible_devices() == 0)
    return refuse(musaErrorNoDevice, "MUSA_VISIBLE_DEVICES=%s leaves no device", std::getenv("MUSA_VISIBLE_DEVICES"));
  return musaSuccess;
}

musaError_t ready() {
  if (const auto error = started()) return error;
  if (emulation::broken(host::current_device))
    return refuse(musaErrorLaunchFailure, "MUSA device %d: a kernel has failed before; nothing works on it any more",
                  host::current_device);
  return musaSuccess;
}

musaError_t check_device_memory(const char* function, const void* address, size_t bytes, bool any_device) {
  static const bool own_device_only = emulation::quirk("pointer_device");
  flagos_pointer_info block;
  if (!host::find_device_block(address, &block))
    return refuse(musaErrorInvalidValue, "%s: %p is not device memory", function, address);
  if (own_device_only && !any_device && block.device != host::current_device)
    return refuse(musaErrorInvalidValue, "%s: %p is memory of MUSA device %d while device %d is current", function, address,
                  block.device, host::current_device);
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(block.base);
  if (bytes > block.size - offset)
    return refuse(musaErrorInvalidValue, "%s: %zu bytes at %p go past the end of the block of %zu bytes at %p", function, bytes,
                  address, block.size, block.base);
  return musaSuccess;
}

}  // namespace musart

using namespace musart;

extern "C" {

musaError_t musaDriverGetVersion(int* value) {
  if (!value) return remember(musaErrorInvalidValue);
  *value = driver_missing() ? 0 : version();
  return musaSuccess;
}

musaError_t musaRuntimeGetVersion(int* value) {
  if (!value) return remember(musaErrorInvalidValue);
  *value = version();
  return musaSuccess;
}

// Does not start anything, so that a process may ask before it forks.
musaError_t musaGetDeviceCount(int* count) {
  if (!count) return remember(musaErrorInvalidValue);
  *count = 0;
  if (driver_missing()) return remember(musaErrorInsufficientDriver);
  const int all = base_devices();
  if (all < 0) return remember(musaErrorInitializationError);
  *count = flagos::ready ? visible_devices() : static_cast<int>(read_visible(all).size());
  return remember(*count > 0 ? musaSuccess : musaErrorNoDevice);
}

// These two also with a broken device, so that one can go on with another.
musaError_t musaGetDevice(int* device) {
  emulation::CallScope scope(__func__);
  musaError_t error = started();
  if (error == musaSuccess && !device) error = musaErrorInvalidValue;
  if (error == musaSuccess) *device = host::current_device;
  scope.set_status(error);
  return remember(error);
}

musaError_t musaSetDevice(int device) {
  emulation::CallScope scope(__func__);
  musaError_t error = started();
  if (error == musaSuccess) error = check_device(device);
  if (error == musaSuccess) host::current_device = device;
  scope.set_status(error);
  return remember(error);
}

musaError_t musaDeviceSynchronize() {
  return call(__func__, [] { return translate(host::synchronize_device(host::current_device)); }, FLAGOS_EMULATION_SYNCHRONIZE);
}

musaError_t musaGetDeviceProperties(musaDeviceProp* out, int device) {
  return call(__func__, [&] {
    if (!out) return musaErrorInvalidValue;
    if (const auto error = check_device(device)) return error;
    *out = properties(device);
    return musaSuccess;
  });
}

musaError_t musaDeviceGetAttribute(int* value, musaDeviceAttr attribute, int device) {
  return call(__func__, [&]() -> musaError_t {
    if (!value) return musaErrorInvalidValue;
    if (const auto error = check_device(device)) return error;
    const auto all = properties(device);
    switch (attribute) {
      case musaDevAttrMaxThreadsPerBlock: *value = all.maxThreadsPerBlock; break;
      case musaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(all.sharedMemPerBlock); break;
      case musaDevAttrWarpSize: *value = all.warpSize; break;
      case musaDevAttrClockRate: *value = all.clockRate; break;
      case musaDevAttrMultiProcessorCount: *value = all.multiProcessorCount; break;
      case musaDevAttrIntegrated: *value = all.integrated; break;
      case musaDevAttrL2CacheSize: *value = all.l2CacheSize; break;
      case musaDevAttrMaxThreadsPerMultiProcessor: *value = all.maxThreadsPerMultiProcessor; break;
      case musaDevAttrUnifiedAddressing: *value = all.unifiedAddressing; break;
      case musaDevAttrComputeCapabilityMajor: *value = all.major; break;
      case musaDevAttrComputeCapabilityMinor: *value = all.minor; break;
      case musaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(all.sharedMemPerMultiprocessor); break;
      case musaDevAttrMaxRegistersPerMultiprocessor: *value = all.regsPerMultiprocessor; break;
      case musaDevAttrManagedMemory: *value = all.managedMemory; break;
      case musaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(all.sharedMemPerBlockOptin); break;
      case musaDevAttrMemoryPoolsSupported: *value = 1; break;
      default: return refuse(musaErrorInvalidValue, "musaDeviceGetAttribute: %d is no attribute", static_cast<int>(attribute));
    }
    return musaSuccess;
  });
}

musaError_t musaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(__func__, [&] {
    int32_t low = 0, high = 0;
    host::stream_priority_range(&low, &high);
    if (least) *least = low;
    if (greatest) *greatest = high;
    return musaSuccess;
  });
}

musaError_t musaDeviceCanAccessPeer(int* yes, int device, int peer) {
  return call(__func__, [&] {
    if (!yes) return musaErrorInvalidValue;
    for (int index : {device, peer})
      if (const auto error = check_device(index)) return error;
    *yes = device != peer;
    return musaSuccess;
  });
}

musaError_t musaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call(__func__, [&]() -> musaError_t {
    if (flags != 0) return refuse(musaErrorInvalidValue, "musaDeviceEnablePeerAccess: the flags must be 0");
    if (const auto error = check_device(peer)) return error;
    if (peer == host::current_device)
      return refuse(musaErrorInvalidDevice, "musaDeviceEnablePeerAccess: device %d is not its own peer", peer);
    const std::lock_guard lock(peers_mutex);
    if (!peers().insert({host::current_device, peer}).second)
      return refuse(musaErrorPeerAccessAlreadyEnabled, "device %d has access to %d already", host::current_device, peer);
    return musaSuccess;
  });
}
}
