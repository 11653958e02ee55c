// SPDX-License-Identifier: Apache-2.0
// tracer_records.h: the records of one session, and which of them belong together.
#pragma once

#include <flagos_tracer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer_clock.h"

namespace torch_fl {

// A record with a realtime place. `from.name` is not to be used: `name` is it, demangled.
struct TraceRecord {
  flagos_activity from;
  std::string name;
  int64_t start, end;  // realtime, nanoseconds

  bool on_device() const {
    return from.kind == FLAGOS_ACTIVITY_KERNEL || from.kind == FLAGOS_ACTIVITY_MEMCPY || from.kind == FLAGOS_ACTIVITY_MEMSET;
  }
  bool is_call() const { return from.kind == FLAGOS_ACTIVITY_RUNTIME || from.kind == FLAGOS_ACTIVITY_DRIVER; }
};

class TORCH_FL_API TraceRecords {
 public:
  // Sorts what a tracer gives: external ids go into the maps, everything else into the list.
  void add(const flagos_activity& activity, const ClockMap& clock);
  // To be called once all are there: drops what is not wholly inside [start, end], and looks for the ends of arrows.
  void close(int64_t start, int64_t end);

  const std::vector<TraceRecord>& all() const { return records_; }
  size_t outside() const { return outside_; }

  // PyTorch's id for the vendor's correlation number.
  std::optional<uint64_t> external(flagos_external_domain domain, uint32_t correlation) const;
  // Whether an arrow starts or ends at this record: a call and device work of one correlation, and of two nested calls (runtime
  // and driver) the first that was seen, since PyTorch accepts one start for each arrow.
  bool has_arrow(const TraceRecord& record) const;
  // The system's id of the thread: the record's own, or that of the call with its correlation; 0 when nobody tells.
  uint32_t thread(const TraceRecord& record) const;

 private:
  struct Arrow {
    const TraceRecord* call = nullptr;
    bool work = false;
  };
  std::vector<TraceRecord> records_;
  std::unordered_map<uint32_t, uint64_t> external_[2];
  std::unordered_map<uint32_t, Arrow> arrows_;
  size_t outside_ = 0;
};

}  // namespace torch_fl
