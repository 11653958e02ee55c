// SPDX-License-Identifier: Apache-2.0
#include "host_copies.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

#include "device_copy.h"
#include "stream.h"

namespace torch_fl {
namespace {

// The bytes of its storage that a strided tensor covers, gaps included.
std::pair<size_t, size_t> extent(const at::Tensor& tensor) {
  const auto element = static_cast<int64_t>(tensor.itemsize());
  const int64_t first = tensor.storage_offset() * element;
  int64_t last = first + element;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d) * element;
  return {static_cast<size_t>(first), static_cast<size_t>(last)};
}

// A strided tensor as runs of neighbouring bytes: `run` bytes at each combination of the loops.
struct Runs {
  struct Loop {
    int64_t count, stride;  // stride in bytes
  };
  size_t run;
  size_t number = 1;
  c10::SmallVector<Loop, 5> loops;  // outermost first

  explicit Runs(const at::Tensor& tensor) : run(tensor.itemsize()) {
    for (int64_t d = 0; d < tensor.dim(); ++d)
      if (tensor.size(d) > 1 && tensor.stride(d) != 0)  // expanded elements are one
        loops.push_back({tensor.size(d), tensor.stride(d) * static_cast<int64_t>(tensor.itemsize())});
    std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.stride > b.stride; });
    while (!loops.empty() && loops.back().stride == static_cast<int64_t>(run)) {
      run *= static_cast<size_t>(loops.back().count);
      loops.pop_back();
    }
    for (const Loop& loop : loops) number *= static_cast<size_t>(loop.count);
  }

  template <class Visit>
  void each(const Visit& visit, size_t level = 0, int64_t offset = 0) const {
    if (level == loops.size()) return visit(offset);
    for (int64_t i = 0; i < loops[level].count; ++i) each(visit, level + 1, offset + i * loops[level].stride);
  }
};

// The caller is told of a data type's state of development when it makes such a tensor, not when its bytes travel.
struct Silent final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

constexpr size_t kFewRuns = 16;  // beyond that a device's own kernel spreads the elements, where there is one

}  // namespace

void upload(void* device, const void* host, size_t bytes, c10::Stream stream) {
  queue_copy(device, host, bytes, FLAGOS_COPY_HOST_TO_DEVICE, stream, "copy to the device");
  synchronize(stream);
}

void download(void* host, const void* device, size_t bytes, c10::Stream stream) {
  queue_copy(host, device, bytes, FLAGOS_COPY_DEVICE_TO_HOST, stream, "copy from the device");
  synchronize(stream);
}

void download_missing(const at::Tensor& device, void* host, size_t& begin, size_t& end) {
  if (device.numel() == 0) return;
  const c10::Stream stream = current_stream(device.device().index());
  const auto* from = static_cast<const char*>(device.storage().data());
  auto fetch = [&](size_t first, size_t last) {
    if (first < last) download(static_cast<char*>(host) + first, from + first, last - first, stream);
  };
  const auto [first, last] = extent(device);
  if (begin == end) {
    fetch(first, last);
    begin = first;
    end = last;
    return;
  }
  fetch(first, begin);
  fetch(end, last);
  begin = std::min(begin, first);
  end = std::max(end, last);
}

void upload_elements(const at::Tensor& host, const at::Tensor& device, c10::Stream stream) {
  if (host.numel() == 0) return;
  const Runs runs(host);
  if (runs.number > kFewRuns && has_device_copy()) {
    Silent silent;
    const c10::WarningUtils::WarningHandlerGuard unheard(&silent);
    const at::Tensor packed = host.contiguous();
    const at::Tensor there = at::empty(host.sizes(), device.options());
    upload(there.mutable_data_ptr(), packed.const_data_ptr(), packed.nbytes(), stream);
    if (device_copy(there, device)) return;
  }
  auto* to = static_cast<char*>(device.mutable_data_ptr());
  const auto* from = static_cast<const char*>(host.const_data_ptr());
  runs.each([&](int64_t offset) {
    queue_copy(to + offset, from + offset, runs.run, FLAGOS_COPY_HOST_TO_DEVICE, stream, "copy to the device");
  });
  synchronize(stream);
}

}  // namespace torch_fl
