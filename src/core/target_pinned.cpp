// SPDX-License-Identifier: Apache-2.0
#include "target_pinned.h"

#include "device.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

class TargetPinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    ensure_initialized();
    return theirs().allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return theirs().raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { theirs().copy_data(to, from, bytes); }
  bool record_event(void* address, void* context, c10::Stream stream) override {
    return theirs().record_event(address, context, as_target(stream));
  }
  void empty_cache() override { theirs().empty_cache(); }
  at::HostStats get_stats() override { return theirs().get_stats(); }
  void reset_accumulated_stats() override { theirs().reset_accumulated_stats(); }
  void reset_peak_stats() override { theirs().reset_peak_stats(); }

 private:
  static at::HostAllocator& theirs() { return torch_device()->pinned(); }
};

}  // namespace

at::HostAllocator* make_target_pinned_allocator() { return new TargetPinnedAllocator(); }

}  // namespace torch_fl
