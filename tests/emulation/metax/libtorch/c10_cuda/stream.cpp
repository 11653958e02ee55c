// SPDX-License-Identifier: Apache-2.0
// Streams: for each device and priority a pool of 32, made when the first of them is asked for, given out in turn.
//
// A StreamId is PyTorch's: 0 is the default stream; else the lowest bit is 1, three bits above bit 0 say which pool, and the bits
// from 4 the place in it. The id of a stream that somebody else has made is its handle, whose lowest bit is 0.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <atomic>
#include <mutex>
#include <ostream>
#include <vector>

namespace c10::cuda {
namespace {

constexpr int kStreams = 32;
constexpr int kPlaceShift = 4;

struct Pool {
  std::once_flag made;
  std::array<cudaStream_t, kStreams> streams;
  std::atomic<uint32_t> next{0};
};
using Pools = std::array<Pool, max_compile_time_stream_priorities>;

Pools& pools(DeviceIndex device) {
  static auto* all = new std::vector<Pools>(device_count_ensure_non_zero());  // outlives every stream
  return (*all)[device];
}

Pool& pool(DeviceIndex device, int number) {
  Pool& found = pools(device)[number];
  std::call_once(found.made, [&] {
    const DeviceGuard there({DeviceType::CUDA, device});
    for (cudaStream_t& stream : found.streams)
      C10_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -number));
  });
  return found;
}

DeviceIndex checked(DeviceIndex device) {
  const DeviceIndex count = device_count_ensure_non_zero();
  if (device == -1) device = current_device();
  TORCH_CHECK(device >= 0 && device < count, "Device index value ", static_cast<int>(device),
              " is out of index range [0, ", static_cast<int>(count), ")");
  return device;
}

CUDAStream stream_of(DeviceIndex device, StreamId id) {
  return CUDAStream(CUDAStream::UNCHECKED, Stream(Stream::UNSAFE, Device(DeviceType::CUDA, device), id));
}

StreamId& current(DeviceIndex device) {
  static thread_local std::vector<StreamId> streams(device_count_ensure_non_zero(), 0);
  return streams[device];
}

}  // namespace

cudaStream_t CUDAStream::stream() const {
  const StreamId id = stream_.id();
  if (id == 0) return nullptr;
  if (!(id & 1)) return reinterpret_cast<cudaStream_t>(id);
  const auto number = static_cast<int>((id >> 1) & 7);
  const StreamId place = id >> kPlaceShift;
  TORCH_CHECK(number < max_compile_time_stream_priorities && place < kStreams, "Unrecognized stream ", stream_);
  return pool(device_index(), number).streams[place];
}

bool CUDAStream::query() const {
  const DeviceGuard there(device());
  const cudaError_t error = cudaStreamQuery(stream());
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  C10_CUDA_CHECK(error);
  return true;
}

void CUDAStream::synchronize() const {
  const DeviceGuard there(device());
  stream_synchronize(stream());
}

CUDAStream getStreamFromPool(const int priority, DeviceIndex device) {
  TORCH_CHECK(priority <= 0, "Expected cuda stream priority to be less than or equal to 0, got ", priority);
  device = checked(device);
  const int least = std::get<1>(CUDAStream::priority_range());
  const int number = -std::max(priority, least);
  const StreamId place = pool(device, number).next++ % kStreams;
  return stream_of(device, place << kPlaceShift | number << 1 | 1);
}
CUDAStream getStreamFromPool(const bool high, DeviceIndex device) {
  return getStreamFromPool(high ? -max_compile_time_stream_priorities + 1 : 0, device);
}

CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
  return stream_of(device, reinterpret_cast<int64_t>(stream));
}
CUDAStream getDefaultCUDAStream(DeviceIndex device) { return stream_of(checked(device), 0); }
CUDAStream getCurrentCUDAStream(DeviceIndex device) {
  device = checked(device);
  return stream_of(device, current(device));
}
void setCurrentCUDAStream(CUDAStream stream) { current(checked(stream.device_index())) = stream.id(); }

std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) { return out << stream.unwrap(); }

}  // namespace c10::cuda
