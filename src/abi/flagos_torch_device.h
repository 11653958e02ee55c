// SPDX-License-Identifier: Apache-2.0
// flagos_torch_device.h: the contract between the core and a platform whose devices the installed PyTorch drives itself.
//
// Such a platform (CUDA's family) exports one function more beside its table, or has it in a library of its own,
// libtorch_fl_platform_<id>_torch.so, where that PyTorch is the vendor's and may be missing. What it returns stands in for the core's own
// allocator, streams, events, generators and pinned memory: they are PyTorch's, so that memory pools, graph capture and
// statistics are shared with everything that this PyTorch does on the same card. It is C++, and belongs to one build of PyTorch.
//
// A flagos storage holds a storage of that device ("target" below), the same bytes, in its DataPtr. A kernel of the target
// reads a flagos tensor through a fresh tensor of the target over the held storage (flagos_target.h); nothing that others can
// see is relabelled.
#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceType.h>
#include <c10/core/Storage.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <utility>
#include <vector>

#define FLAGOS_TORCH_DEVICE_ENTRY "flagos_torch_device_entry"

namespace torch_fl {

// What a snapshot says of a segment of memory; PyTorch 2.10 has no public type for it.
struct SegmentSnapshot {
  struct Part {
    size_t size, requested;
    const char* state;  // as torch.cuda.memory_snapshot names it
  };
  c10::DeviceIndex device;
  c10::StreamId stream;
  size_t address, total_size;
  bool small;
  size_t allocated_size = 0, active_size = 0, requested_size = 0;  // bytes
  std::vector<Part> blocks;
};

class TorchDevice {
 public:
  virtual ~TorchDevice() = default;

  virtual c10::DeviceType type() const = 0;
  virtual const c10::impl::DeviceGuardImplInterface& guard() const = 0;  // devices, streams (their ids are the target's), events
  virtual c10::Allocator& allocator() const = 0;  // a c10::DeviceAllocator where the target has statistics and caches
  virtual at::HostAllocator& pinned() const = 0;
  virtual at::Generator default_generator(c10::DeviceIndex index) const = 0;
  virtual at::Generator new_generator(c10::DeviceIndex index) const = 0;

  // Of a stream of the target, what PyTorch's guard interface has no function for in every version.
  virtual void* stream_handle(c10::Stream stream) const = 0;  // the vendor's; null is the default stream
  virtual int stream_priority(c10::Stream stream) const = 0;

  // Of an allocator that caches; the defaults are those of one that does not.
  virtual double memory_fraction(c10::DeviceIndex) const { return 1; }  // of the device's memory, at most
  virtual void set_memory_fraction(c10::DeviceIndex, double) const {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "flagos: the allocator of ", type(), " has no limit to set");
  }
  virtual std::vector<SegmentSnapshot> memory_segments() const { return {}; }

  // Whether the work of a stream of the target goes into a graph instead of being run.
  virtual bool stream_capturing(c10::Stream) const { return false; }
};

// Null where the platform exports none. What it points to lives as long as the process.
using TorchDeviceEntry = const TorchDevice* (*)();

__attribute__((visibility("default"))) const TorchDevice* torch_device() noexcept;  // the loaded platform's; null: none

// A flagos DataPtr that owns `target`, on the device of the same index.
__attribute__((visibility("default"))) c10::DataPtr hold(c10::intrusive_ptr<c10::StorageImpl> target);
__attribute__((visibility("default"))) void release_held(void* target);  // its deleter, by which it is known

// The target's storage that a flagos storage holds; null for memory that the target did not allocate (from_blob, another
// plug-in's).
inline c10::StorageImpl* held(const c10::StorageImpl& flagos) {
  const c10::DataPtr& data = flagos.data_ptr();
  if (__builtin_expect(data.get_deleter() != &release_held, 0)) return nullptr;
  return static_cast<c10::StorageImpl*>(data.get_context());
}

// A storage of the target over memory of which `held` knows nothing: it does not own the memory, so it is good for one call.
__attribute__((visibility("default"))) c10::Storage borrowed(c10::StorageImpl& flagos);

// Throws the exception in flight again, with flagos' name in place of the target's ("flagos:0", "flagos out of memory").
[[noreturn]] __attribute__((visibility("default"))) void rethrow_in_flagos_words();

// A device, given with or without index, once it is known to exist and the platform has started; else throws, in one sentence.
__attribute__((visibility("default"))) c10::Device started(c10::Device flagos);

// The generator of the target behind a flagos one (shared: what either draws, the other does not draw again). An undefined
// generator stays one, which every kernel takes for the default.
__attribute__((visibility("default"))) at::Generator target_generator(const at::Generator& flagos);

}  // namespace torch_fl
