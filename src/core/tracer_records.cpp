// SPDX-License-Identifier: Apache-2.0
#include "tracer_records.h"

#include <c10/util/Type.h>

#include <algorithm>
#include <cstring>

namespace torch_fl {

void TraceRecords::add(const flagos_activity& activity, const ClockMap& clock) {
  flagos_activity whole{};
  std::memcpy(&whole, &activity, std::min<size_t>(activity.struct_size, sizeof(whole)));
  if (whole.kind == FLAGOS_ACTIVITY_EXTERNAL) {
    if (whole.domain == FLAGOS_EXTERNAL_OPERATOR || whole.domain == FLAGOS_EXTERNAL_ANNOTATION)
      external_[whole.domain].insert_or_assign(whole.correlation, whole.external_id);
    return;
  }
  const char* name = whole.name ? whole.name : "";
  auto& record = records_.emplace_back();
  record.from = whole;
  record.from.name = nullptr;
  record.name = whole.kind == FLAGOS_ACTIVITY_KERNEL ? c10::demangle(name) : name;
  record.start = clock.realtime(whole.start);
  record.end = std::max(record.start, clock.realtime(whole.end));
}

void TraceRecords::close(int64_t start, int64_t end) {
  const size_t before = records_.size();
  std::erase_if(records_, [=](const TraceRecord& record) { return record.start < start || record.end > end; });
  outside_ = before - records_.size();
  std::stable_sort(records_.begin(), records_.end(),
                   [](const TraceRecord& one, const TraceRecord& other) { return one.start < other.start; });
  for (const auto& record : records_) {
    if (record.from.correlation == 0) continue;
    auto& arrow = arrows_[record.from.correlation];
    if (record.is_call() && !arrow.call) arrow.call = &record;
    if (record.on_device()) arrow.work = true;
  }
}

std::optional<uint64_t> TraceRecords::external(flagos_external_domain domain, uint32_t correlation) const {
  const auto found = external_[domain].find(correlation);
  if (found == external_[domain].end()) return std::nullopt;
  return found->second;
}

bool TraceRecords::has_arrow(const TraceRecord& record) const {
  const auto found = arrows_.find(record.from.correlation);
  if (found == arrows_.end() || !found->second.call || !found->second.work) return false;
  return record.on_device() || found->second.call == &record;
}

uint32_t TraceRecords::thread(const TraceRecord& record) const {
  if (record.from.thread) return record.from.thread;
  const auto found = arrows_.find(record.from.correlation);
  return found != arrows_.end() && found->second.call ? found->second.call->from.thread : 0;
}

}  // namespace torch_fl
