// SPDX-License-Identifier: Apache-2.0
// allocator.h: the allocator that PyTorch sees, and memory lent to CPU kernels. It is the core's own (allocator.cpp), or where
// PyTorch drives the device itself, that of PyTorch (target_allocator.cpp).
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include "caching_allocator.h"
#include "macros.h"

namespace torch_fl {

class TORCH_FL_API DeviceAllocator : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override;  // on the current device and its current stream
  virtual c10::DataPtr allocate_on(size_t bytes, c10::Stream stream) = 0;
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }  // the context is not the address
  void copy_data(void* to, const void* from, std::size_t bytes) const override;

  bool initialized() override { return is_initialized(); }
  // PyTorch 2.10 does not declare it, so no `override` here.
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) { return memory_info(index); }

  virtual std::vector<SegmentSnapshot> snapshot() = 0;
  virtual void set_fraction(c10::DeviceIndex index, double fraction) = 0;
  virtual double fraction(c10::DeviceIndex index) = 0;
};

TORCH_FL_API DeviceAllocator& allocator();
void register_allocator();

// While one lives, CPU tensors made by this thread lie in device memory (at its host address), so that the result of a
// CPU kernel becomes a device tensor without a copy. Only for platforms with FLAGOS_CAP_HOST_ALIAS.
class DeviceResults {
 public:
  enum class When {
    at_once,         // by the thread that owns the tensors
    in_stream_order  // by queued work: it must not take what that thread has freed ahead of it
  };
  explicit DeviceResults(c10::Stream stream, When when = When::at_once);
  ~DeviceResults();
  DeviceResults(const DeviceResults&) = delete;
  DeviceResults& operator=(const DeviceResults&) = delete;

 private:
  const c10::Stream* former_;
  const c10::Stream stream_;
};

// The device form of memory that DeviceResults lent; an empty pointer, and `host` untouched, for other memory.
c10::DataPtr adopt(c10::DataPtr& host);

ptrdiff_t host_offset();  // host address minus device address
inline void* host_address(const void* device) {
  return device ? static_cast<char*>(const_cast<void*>(device)) + host_offset() : nullptr;
}

}  // namespace torch_fl
