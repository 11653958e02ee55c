// SPDX-License-Identifier: Apache-2.0
#include "pinned.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace torch_fl::double_ {
namespace {

struct Blocks {
  std::mutex mutex;
  std::map<const char*, size_t> sizes;  // by their start
};
Blocks& blocks() {
  static auto* instance = new Blocks();
  return *instance;
}

void release(void* address) {
  {
    const std::lock_guard lock(blocks().mutex);
    blocks().sizes.erase(static_cast<char*>(address));
  }
  std::free(address);
}

class Pinned final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    void* address = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    TORCH_CHECK(address, "out of memory: ", bytes, " bytes of pinned memory");
    const std::lock_guard lock(blocks().mutex);
    blocks().sizes[static_cast<char*>(address)] = bytes;
    return {address, address, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool record_event(void*, void*, c10::Stream) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

}  // namespace

at::HostAllocator& pinned() {
  static auto* instance = new Pinned();
  return *instance;
}

bool is_pinned(const void* address, void** base, size_t* bytes) {
  const std::lock_guard lock(blocks().mutex);
  const auto next = blocks().sizes.upper_bound(static_cast<const char*>(address));
  if (next == blocks().sizes.begin()) return false;
  const auto& [start, size] = *std::prev(next);
  if (static_cast<size_t>(static_cast<const char*>(address) - start) >= size) return false;
  *base = const_cast<char*>(start);
  *bytes = size;
  return true;
}

}  // namespace torch_fl::double_
