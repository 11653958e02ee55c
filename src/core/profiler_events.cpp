// SPDX-License-Identifier: Apache-2.0
#include "profiler_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace torch_fl {
namespace {

using libkineto::ActivityType;
using libkineto::CpuTraceBuffer;
using libkineto::GenericTraceActivity;
using libkineto::ITraceActivity;

ActivityType type_of(flagos_activity_kind kind) {
  switch (kind) {
    case FLAGOS_ACTIVITY_KERNEL:
      return ActivityType::CONCURRENT_KERNEL;
    case FLAGOS_ACTIVITY_MEMCPY:
      return ActivityType::GPU_MEMCPY;
    case FLAGOS_ACTIVITY_MEMSET:
      return ActivityType::GPU_MEMSET;
    case FLAGOS_ACTIVITY_DRIVER:
      return ActivityType::PRIVATEUSE1_DRIVER;
    case FLAGOS_ACTIVITY_OVERHEAD:
      return ActivityType::OVERHEAD;
    default:  // calls of the runtime, and the waiting in them
      return ActivityType::PRIVATEUSE1_RUNTIME;
  }
}

std::string name_of(const TraceRecord& record) {
  switch (record.from.kind) {
    case FLAGOS_ACTIVITY_MEMCPY:
      return record.name.empty() ? "Memcpy" : "Memcpy " + record.name;
    case FLAGOS_ACTIVITY_MEMSET:
      return "Memset";
    default:
      return record.name.empty() ? "(without a name)" : record.name;
  }
}

std::string triple(const int32_t (&sizes)[3]) {
  return fmt::format("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]);
}

// The words are those of PyTorch's own traces, so that tools which read them find them.
void describe(const TraceRecord& record, GenericTraceActivity& event) {
  const auto& from = record.from;
  if (from.correlation) event.addMetadata("correlation", from.correlation);
  if (record.is_call() && from.result) event.addMetadata("result", from.result);
  if (!record.on_device()) return;
  event.addMetadata("device", from.device);
  event.addMetadata("context", from.context);
  event.addMetadata("stream", from.stream);
  if (from.kind == FLAGOS_ACTIVITY_KERNEL) {
    event.addMetadata("grid", triple(from.grid));
    event.addMetadata("block", triple(from.block));
    event.addMetadata("registers per thread", from.registers);
    event.addMetadata("shared memory", from.shared_memory);
    return;
  }
  event.addMetadata("bytes", from.bytes);
  if (record.end > record.start)  // bytes in a nanosecond are gigabytes in a second
    event.addMetadata("memory bandwidth (GB/s)", static_cast<double>(from.bytes) / static_cast<double>(record.end - record.start));
}

GenericTraceActivity& append(CpuTraceBuffer& buffer, ActivityType type, const std::string& name, int64_t start, int64_t end) {
  buffer.emplace_activity(buffer.span, type, name);
  auto& event = *buffer.activities.back();
  event.startTime = start;
  event.endTime = end;
  return event;
}

void place(const TraceRecords& records, const TraceRecord& record, GenericTraceActivity& event) {
  if (record.on_device()) {
    event.device = record.from.device;
    event.resource = static_cast<int32_t>(record.from.stream);
  } else {
    event.device = libkineto::processId();
    event.resource = event.threadId = static_cast<int32_t>(records.thread(record));
  }
}

const ITraceActivity* linked(const TraceRecords& records, const TraceRecord& record, flagos_external_domain domain,
                             const libkineto::getLinkedActivityCallback& operator_of) {
  const auto id = records.external(domain, record.from.correlation);
  return id && operator_of ? operator_of(static_cast<int32_t>(*id)) : nullptr;
}

// One annotation's device work on one stream.
using AnnotationKey = std::tuple<int32_t, uint32_t, const ITraceActivity*>;
struct Extent {
  int64_t start, end;
};

void write_annotations(const std::map<AnnotationKey, Extent>& annotations, CpuTraceBuffer& buffer) {
  for (const auto& [key, extent] : annotations) {
    const auto& [device, stream, annotation] = key;
    auto& event = append(buffer, ActivityType::GPU_USER_ANNOTATION, annotation->name(), extent.start, extent.end);
    event.device = device;
    event.resource = static_cast<int32_t>(stream);
    event.id = static_cast<int32_t>(annotation->correlationId());
  }
}

}  // namespace

void write_events(const TraceRecords& records, const std::set<ActivityType>& wanted,
                  const libkineto::getLinkedActivityCallback& operator_of, CpuTraceBuffer& buffer) {
  std::map<AnnotationKey, Extent> annotations;
  for (const auto& record : records.all()) {
    const ActivityType type = type_of(record.from.kind);
    // PyTorch's list for PrivateUse1 has no overhead; who asks for the runtime's calls sees what they cost.
    const ActivityType asked = type == ActivityType::OVERHEAD ? ActivityType::PRIVATEUSE1_RUNTIME : type;
    if (!wanted.count(asked)) continue;
    auto& event = append(buffer, type, name_of(record), record.start, record.end);
    place(records, record, event);
    describe(record, event);
    event.id = static_cast<int32_t>(record.from.correlation);
    event.linked = linked(records, record, FLAGOS_EXTERNAL_OPERATOR, operator_of);
    if (records.has_arrow(record)) {
      event.flow.id = record.from.correlation;
      event.flow.type = libkineto::kLinkAsyncCpuGpu;
      event.flow.start = record.is_call();
    }
    if (!record.on_device()) continue;
    ++buffer.gpuOpCount;
    if (const auto* annotation = linked(records, record, FLAGOS_EXTERNAL_ANNOTATION, operator_of)) {
      const AnnotationKey key{record.from.device, record.from.stream, annotation};
      auto& extent = annotations.try_emplace(key, Extent{record.start, record.end}).first->second;
      extent.end = std::max(extent.end, record.end);
    }
  }
  if (wanted.count(ActivityType::GPU_USER_ANNOTATION)) write_annotations(annotations, buffer);
}

std::set<int32_t> devices_of(const TraceRecords& records) {
  std::set<int32_t> devices;
  for (const auto& record : records.all())
    if (record.on_device()) devices.insert(record.from.device);
  return devices;
}

std::set<std::pair<int32_t, uint32_t>> streams_of(const TraceRecords& records) {
  std::set<std::pair<int32_t, uint32_t>> streams;
  for (const auto& record : records.all())
    if (record.on_device()) streams.emplace(record.from.device, record.from.stream);
  return streams;
}

}  // namespace torch_fl
