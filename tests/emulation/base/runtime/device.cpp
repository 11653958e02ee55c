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
#include "contract.h"
#include "current_device.h"
#include "devices.h"
#include "emulation/quirks.h"
#include "memory.h"
#include "streams.h"

namespace runtime {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// FLAGOS_EMULATION_DRIVER=none: a machine without the vendor's driver.
bool driver_missing() { return variable("FLAGOS_EMULATION_DRIVER") == "none"; }

// FLAGOS_EMULATION_VERSION: another version of the runtime and the driver, in the vendor's numbers.
int version() {
  const auto text = variable("FLAGOS_EMULATION_VERSION");
  int number = version_number;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The variable is read as CUDA's is: numbers, in the order in which they are counted anew, up to the first one that does not
// exist; none at all when one comes twice.
std::vector<int> read_visible(int count) {
  std::vector<int> devices;
  const char* list = std::getenv(vendor::kVisibleDevices);
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

Error check_device(int device) {
  if (device >= 0 && device < visible_devices()) return RT(Success);
  return refuse(RT(ErrorInvalidDevice), "there is no device %d, only %d of them", device, visible_devices());
}

vendor::Properties card(int device) {
  size_t free_bytes = 0, total = 0;
  host::memory_info(device, &free_bytes, &total);
  return properties(physical(device), total);
}

std::mutex peers_mutex;
std::set<std::pair<int, int>>& peers() {  // (device, peer) with access enabled; guarded by peers_mutex
  static auto* pairs = new std::set<std::pair<int, int>>();
  return *pairs;
}

}  // namespace

bool odd(std::string_view quirk) {
  for (std::string_view rest = quirks; !rest.empty();) {
    const auto word = rest.substr(0, rest.find(','));
    if (word == quirk) return emulation::quirk(quirk);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

int visible_devices() { return static_cast<int>(visible().size()); }
int physical(int device) { return visible()[device]; }

Error started() {
  if (driver_missing()) return refuse(RT(ErrorInsufficientDriver), "FLAGOS_EMULATION_DRIVER=none: no driver");
  if (emulation::start() != FLAGOS_SUCCESS) return RT(ErrorInitializationError);
  if (visible_devices() == 0)
    return refuse(RT(ErrorNoDevice), "%s=%s leaves no device", vendor::kVisibleDevices, std::getenv(vendor::kVisibleDevices));
  return RT(Success);
}

Error ready() {
  if (const auto error = started()) return error;
  if (emulation::broken(host::current_device))
    return refuse(RT(ErrorLaunchFailure), "device %d: a kernel has failed before; nothing works on it any more",
                  host::current_device);
  return RT(Success);
}

Error check_device_memory(const char* function, const void* address, size_t bytes, bool any_device) {
  static const bool own_device_only = odd("pointer_device");
  flagos_pointer_info block;
  if (!host::find_device_block(address, &block))
    return refuse(RT(ErrorInvalidValue), "%s: %p is not device memory", function, address);
  if (own_device_only && !any_device && block.device != host::current_device)
    return refuse(RT(ErrorInvalidValue), "%s: %p is memory of device %d while device %d is current", function, address,
                  block.device, host::current_device);
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(block.base);
  if (bytes > block.size - offset)
    return refuse(RT(ErrorInvalidValue), "%s: %zu bytes at %p go past the end of the block of %zu bytes at %p", function, bytes,
                  address, block.size, block.base);
  return RT(Success);
}

}  // namespace runtime

using namespace runtime;

extern "C" {

Error RT(DriverGetVersion)(int* value) {
  if (!value) return remember(RT(ErrorInvalidValue));
  *value = driver_missing() ? 0 : version();
  return RT(Success);
}

Error RT(RuntimeGetVersion)(int* value) {
  if (!value) return remember(RT(ErrorInvalidValue));
  *value = version();
  return RT(Success);
}

// Does not start anything, so that a process may ask before it forks.
Error RT(GetDeviceCount)(int* count) {
  if (!count) return remember(RT(ErrorInvalidValue));
  *count = 0;
  if (driver_missing()) return remember(RT(ErrorInsufficientDriver));
  const int all = base_devices();
  if (all < 0) return remember(RT(ErrorInitializationError));
  *count = flagos::ready ? visible_devices() : static_cast<int>(read_visible(all).size());
  return remember(*count > 0 ? RT(Success) : RT(ErrorNoDevice));
}

// These two also with a broken device, so that one can go on with another.
Error RT(GetDevice)(int* device) {
  emulation::CallScope scope(__func__);
  Error error = started();
  if (error == RT(Success) && !device) error = RT(ErrorInvalidValue);
  if (error == RT(Success)) *device = host::current_device;
  scope.set_status(error);
  return remember(error);
}

Error RT(SetDevice)(int device) {
  emulation::CallScope scope(__func__);
  Error error = started();
  if (error == RT(Success)) error = check_device(device);
  if (error == RT(Success)) host::current_device = device;
  scope.set_status(error);
  return remember(error);
}

Error RT(DeviceSynchronize)() {
  return call(__func__, [] { return translate(host::synchronize_device(host::current_device)); }, FLAGOS_EMULATION_SYNCHRONIZE);
}

Error RT(GetDeviceProperties)(vendor::Properties* out, int device) {
  return call(__func__, [&] {
    if (!out) return RT(ErrorInvalidValue);
    if (const auto error = check_device(device)) return error;
    *out = card(device);
    return RT(Success);
  });
}

Error RT(DeviceGetAttribute)(int* value, vendor::Attribute attribute, int device) {
  return call(__func__, [&]() -> Error {
    if (!value) return RT(ErrorInvalidValue);
    if (const auto error = check_device(device)) return error;
    if (read_attribute(card(device), attribute, value)) return RT(Success);
    return refuse(RT(ErrorInvalidValue), RT_NAME(DeviceGetAttribute) ": %d is no attribute", static_cast<int>(attribute));
  });
}

Error RT(DeviceGetStreamPriorityRange)(int* least, int* greatest) {
  return call(__func__, [&] {
    int32_t low = 0, high = 0;
    host::stream_priority_range(&low, &high);
    if (least) *least = low;
    if (greatest) *greatest = high;
    return RT(Success);
  });
}

Error RT(DeviceCanAccessPeer)(int* yes, int device, int peer) {
  return call(__func__, [&] {
    if (!yes) return RT(ErrorInvalidValue);
    for (int index : {device, peer})
      if (const auto error = check_device(index)) return error;
    *yes = device != peer;
    return RT(Success);
  });
}

Error RT(DeviceEnablePeerAccess)(int peer, unsigned int flags) {
  return call(__func__, [&]() -> Error {
    if (flags != 0) return refuse(RT(ErrorInvalidValue), RT_NAME(DeviceEnablePeerAccess) ": the flags must be 0");
    if (const auto error = check_device(peer)) return error;
    if (peer == host::current_device)
      return refuse(RT(ErrorInvalidDevice), RT_NAME(DeviceEnablePeerAccess) ": device %d is not its own peer", peer);
    const std::lock_guard lock(peers_mutex);
    if (!peers().insert({host::current_device, peer}).second)
      return refuse(RT(ErrorPeerAccessAlreadyEnabled), "device %d has access to %d already", host::current_device, peer);
    return RT(Success);
  });
}
}
