// SPDX-License-Identifier: Apache-2.0
// memory.cpp: statistics of the device's and the pinned allocator, in the shapes that torch.cuda gives them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "allocator.h"
#include "bindings.h"
#include "pinned.h"

namespace py = pybind11;

namespace torch_fl {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;

py::dict as_dict(const Stat& stat) {
  py::dict result;
  result["current"] = stat.current;
  result["peak"] = stat.peak;
  result["allocated"] = stat.allocated;
  result["freed"] = stat.freed;
  return result;
}

py::dict as_dict(const StatArray& stats) {
  constexpr std::array<const char*, 3> pools = {"all", "small_pool", "large_pool"};
  py::dict result;
  for (size_t i = 0; i < pools.size(); ++i) result[pools[i]] = as_dict(stats[i]);
  return result;
}

py::dict memory_stats(int index) {
  const auto stats = allocator().getDeviceStats(narrow_index(index));
  py::dict result;
  result["num_alloc_retries"] = stats.num_alloc_retries;
  result["num_ooms"] = stats.num_ooms;
  result["max_split_size"] = stats.max_split_size;
  result["num_sync_all_streams"] = stats.num_sync_all_streams;
  result["num_device_alloc"] = stats.num_device_alloc;
  result["num_device_free"] = stats.num_device_free;
  result["allocation"] = as_dict(stats.allocation);
  result["segment"] = as_dict(stats.segment);
  result["active"] = as_dict(stats.active);
  result["inactive_split"] = as_dict(stats.inactive_split);
  result["allocated_bytes"] = as_dict(stats.allocated_bytes);
  result["reserved_bytes"] = as_dict(stats.reserved_bytes);
  result["active_bytes"] = as_dict(stats.active_bytes);
  result["inactive_split_bytes"] = as_dict(stats.inactive_split_bytes);
  result["requested_bytes"] = as_dict(stats.requested_bytes);
  result["oversize_allocations"] = as_dict(stats.oversize_allocations);
  result["oversize_segments"] = as_dict(stats.oversize_segments);
  return result;
}

py::dict host_memory_stats() {
  const auto stats = pinned_stats();
  py::dict result;
  result["active_requests"] = as_dict(stats.active_requests);
  result["active_bytes"] = as_dict(stats.active_bytes);
  result["allocations"] = as_dict(stats.allocations);
  result["allocated_bytes"] = as_dict(stats.allocated_bytes);
  result["num_host_alloc"] = stats.num_host_alloc;
  result["num_host_free"] = stats.num_host_free;
  return result;
}

py::list memory_snapshot() {
  py::list result;
  for (const auto& segment : allocator().snapshot()) {
    py::dict entry;
    entry["device"] = static_cast<int>(segment.device);
    entry["address"] = segment.address;
    entry["total_size"] = segment.total_size;
    entry["allocated_size"] = segment.allocated_size;
    entry["active_size"] = segment.active_size;
    entry["requested_size"] = segment.requested_size;
    entry["stream"] = segment.stream;
    entry["segment_type"] = segment.small ? "small" : "large";
    py::list blocks;
    size_t address = segment.address;
    for (const auto& block : segment.blocks) {
      py::dict part;
      part["address"] = address;
      part["size"] = block.size;
      part["requested_size"] = block.requested;
      part["state"] = block.state;
      blocks.append(part);
      address += block.size;
    }
    entry["blocks"] = blocks;
    result.append(entry);
  }
  return result;
}

}  // namespace

void bind_memory(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("memory_info", [](int index) { return memory_info(narrow_index(index)); });
  m.def("memory_stats", &memory_stats);
  m.def("reset_peak_memory_stats", [](int index) { allocator().resetPeakStats(narrow_index(index)); });
  m.def("reset_accumulated_memory_stats", [](int index) { allocator().resetAccumulatedStats(narrow_index(index)); });
  m.def("empty_cache", [] { allocator().emptyCache(); }, release_gil());
  m.def("memory_snapshot", &memory_snapshot);
  m.def("memory_fraction", [](int index) { return allocator().fraction(narrow_index(index)); });
  m.def("set_memory_fraction", [](int index, double fraction) { allocator().set_fraction(narrow_index(index), fraction); });
  m.def("host_memory_stats", &host_memory_stats);
  m.def("reset_peak_host_memory_stats", &reset_pinned_peaks);
  m.def("reset_accumulated_host_memory_stats", &reset_pinned_totals);
  m.def("host_empty_cache", &empty_pinned_cache);
}

}  // namespace torch_fl
