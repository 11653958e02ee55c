// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulation/device.h"
#include "emulation/quirks.h"

namespace musa::dnn::emulation {
namespace {

bool logging() {
  static const char* variable = std::getenv("FLAGOS_EMULATION_MUDNN_LOG");
  return variable && std::strcmp(variable, "1") == 0;
}

// Refuses memory of which `address`, the CPU finds no whole extent on the device.
void require_extent(const void* address, int64_t low, int64_t high, int device, const std::string& who) {
  const auto block = ::emulation::find_block(address);
  if (!block) refuse(Status::INVALID_PARAMETER, who + " is not in live device memory");
  if (block->device != device)
    refuse(Status::INVALID_PARAMETER, who + " is memory of device " + std::to_string(block->device) + ", and the handle is for device " +
                                          std::to_string(device));
  const int64_t start = static_cast<const char*>(address) - static_cast<const char*>(block->base);
  if (start + low < 0 || start + high > static_cast<int64_t>(block->bytes))
    refuse(Status::INVALID_PARAMETER, who + " reaches out of its allocation: its sizes and strides are wrong");
}

}  // namespace

void refuse(Status status, std::string reason) { throw Refusal{status, std::move(reason)}; }

Status refused(const char* name, const Refusal& refusal) {
  if (logging()) std::fprintf(stderr, "mudnn (emulated): %s: status %d: %s\n", name, static_cast<int>(refusal.status), refusal.reason.c_str());
  return refusal.status;
}

Status failed(const char* name) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return refused(name, {Status::ALLOC_FAILED, "no memory"});
  } catch (const std::exception& error) {
    return refused(name, {Status::INTERNAL_ERROR, error.what()});
  }
}

Run::Run(const Handle& handle, const char* name) : handle_(handle), name_(name) {
  const int device = Inspect::device(handle);
  require(device >= 0 && device < ::emulation::device_count(), "the handle's device does not exist", Status::NOT_INITIALIZED);
  if (Inspect::thread(handle) != this_thread())
    require(!::emulation::quirk("handle_thread"), "the handle was made by another thread: each thread needs its own");
  if (::emulation::current_device() != device)
    require(!::emulation::quirk("handle_device"), "the handle's device is not the current one");
  if (Inspect::stream(handle))
    require(::emulation::stream_device(Inspect::stream(handle)) == device, "the handle's stream is of another device");
}

View Run::view(const Tensor& tensor, const char* role) const {
  const std::string who = std::string("tensor `") + role + "`";
  View view;
  view.type = Inspect::type(tensor);
  view.format = Inspect::format(tensor);
  const auto& sizes = Inspect::sizes(tensor);
  const auto& strides = Inspect::strides(tensor);
  if (sizes.empty()) refuse(Status::INVALID_PARAMETER, who + " has no dimensions");
  if (sizes.size() > kMaxRank) refuse(Status::NOT_SUPPORTED, who + " has more than 8 dimensions");
  if (!is_number(view.type)) refuse(Status::NOT_SUPPORTED, who + " has a quantised or 8-bit float type");
  view.rank = static_cast<int>(sizes.size());
  int64_t low = 0, high = 0;  // offsets of the first and the last element
  for (int d = 0; d < view.rank; ++d) {
    view.sizes[d] = sizes[d];
    view.strides[d] = strides[d];
    if (sizes[d] < 0) refuse(Status::INVALID_PARAMETER, who + " has a negative size");
    (strides[d] < 0 ? low : high) += strides[d] * (sizes[d] - 1);
  }
  if (view.elements() == 0) return view;
  const int64_t bytes = view.element_bytes();
  const char* address = static_cast<const char*>(Inspect::address(tensor));
  if (!address) refuse(Status::INVALID_PARAMETER, who + " has no address: SetAddr was not called");
  if (reinterpret_cast<uintptr_t>(address) % bytes) refuse(Status::INVALID_PARAMETER, who + " is not aligned to its type");
  require_extent(address, low * bytes, (high + 1) * bytes, Inspect::device(handle_), who);
  view.data = static_cast<char*>(const_cast<void*>(::emulation::cpu_address(static_cast<const void*>(address))));
  return view;
}

View Run::optional(const Tensor& tensor, const char* role) const {
  if (Inspect::sizes(tensor).empty()) return {};
  View result = view(tensor, role);
  return result.elements() == 0 ? View{} : result;
}

void Run::workspace(const MemoryMaintainer& memory, int64_t bytes) {
  if (bytes <= 0) return;
  require(static_cast<bool>(memory), "the operator needs a workspace, and no MemoryMaintainer was given");
  const MemoryHandler handler = memory(static_cast<size_t>(bytes));
  require(handler != nullptr, "the MemoryMaintainer gave no memory", Status::ALLOC_FAILED);
  require_extent(handler.get(), 0, bytes, Inspect::device(handle_), "the workspace");
  // The memory goes back when this returns, as it does in a library that only queues work: whoever gives it keeps stream
  // order, or waits. The work makes sure that it is still there.
  char* first = static_cast<char*>(::emulation::cpu_address(handler.get()));
  launch([first, bytes] {
    std::memset(first, 0xa5, std::min<int64_t>(bytes, 4096));
    first[bytes - 1] = static_cast<char>(0xa5);
  });
}

void Run::launch(std::function<void()> work) {
  require(::emulation::launch(Inspect::stream(handle_), name_, std::move(work)), "the handle's stream is none", Status::EXECUTION_FAILED);
}

}  // namespace musa::dnn::emulation
