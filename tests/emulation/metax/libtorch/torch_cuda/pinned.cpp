// SPDX-License-Identifier: Apache-2.0
#include "pinned.h"

#include <c10/cuda/CUDAEvent.h>

#include <cstring>

namespace emulated_fork {
namespace {

using c10::cuda::CUDAEvent;
using c10::cuda::CUDAStream;

struct Blocks final : at::CachingHostAllocatorImpl<CUDAStream, CUDAEvent> {
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

 private:
  void allocate_host_memory(size_t bytes, void** address) override {
    C10_CUDA_CHECK(cudaHostAlloc(address, bytes, cudaHostAllocDefault));
  }
  void free_block(at::HostBlock<CUDAStream>* block) override { C10_CUDA_CHECK(cudaFreeHost(block->ptr_)); }
  void record_stream(std::optional<std::vector<CUDAEvent>>& events, CUDAStream stream) override {
    events->emplace_back(cudaEventDisableTiming).record(stream);
  }
  bool query_event(CUDAEvent& event) override { return event.query(); }
  CUDAStream get_current_stream() const override { return c10::cuda::getCurrentCUDAStream(); }
  bool stream_is_capturing(CUDAStream stream) const override { return stream.is_capturing(); }
};

void release(void* block);
using Pinned = at::CachingHostAllocatorInterface<Blocks, release>;

Pinned& instance() {
  static auto* made = new Pinned();  // outlives every tensor
  return *made;
}
void release(void* block) { instance().free(block); }

}  // namespace

at::HostAllocator& pinned() { return instance(); }

bool is_pinned(const void* address) {
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, address) == cudaSuccess) return found.type == cudaMemoryTypeHost;
  (void)cudaGetLastError();
  return false;
}

}  // namespace emulated_fork

namespace at {
REGISTER_HOST_ALLOCATOR(c10::kCUDA, &emulated_fork::pinned())
}  // namespace at
