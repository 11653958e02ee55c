// SPDX-License-Identifier: Apache-2.0
#include "profiler_session.h"

#include <output_base.h>

#include <string_view>
#include <utility>

#include "profiler_events.h"

namespace torch_fl {
namespace {

constexpr std::pair<flagos_activity_kind, const char*> kKindNames[] = {
    {FLAGOS_ACTIVITY_KERNEL, "kernel"},   {FLAGOS_ACTIVITY_MEMCPY, "memcpy"},
    {FLAGOS_ACTIVITY_MEMSET, "memset"},   {FLAGOS_ACTIVITY_RUNTIME, "runtime"},
    {FLAGOS_ACTIVITY_DRIVER, "driver"},   {FLAGOS_ACTIVITY_SYNCHRONIZATION, "synchronization"},
    {FLAGOS_ACTIVITY_OVERHEAD, "overhead"}, {FLAGOS_ACTIVITY_EXTERNAL, "external"}};

std::string names(uint32_t kinds) {
  std::string list;
  for (const auto& [kind, name] : kKindNames)
    if (kinds >> kind & 1) list += std::string(list.empty() ? "" : " ") + name;
  return list;
}

// Host calls are always asked for: they carry the external ids, and are the tails of the arrows.
uint32_t kinds_for(const std::set<libkineto::ActivityType>& wanted) {
  using libkineto::ActivityType;
  uint32_t kinds = 1u << FLAGOS_ACTIVITY_EXTERNAL | 1u << FLAGOS_ACTIVITY_RUNTIME | 1u << FLAGOS_ACTIVITY_DRIVER |
                   1u << FLAGOS_ACTIVITY_OVERHEAD;
  if (wanted.count(ActivityType::CONCURRENT_KERNEL)) kinds |= 1u << FLAGOS_ACTIVITY_KERNEL;
  if (wanted.count(ActivityType::GPU_MEMCPY)) kinds |= 1u << FLAGOS_ACTIVITY_MEMCPY;
  if (wanted.count(ActivityType::GPU_MEMSET)) kinds |= 1u << FLAGOS_ACTIVITY_MEMSET;
  if (wanted.count(ActivityType::PRIVATEUSE1_RUNTIME)) kinds |= 1u << FLAGOS_ACTIVITY_SYNCHRONIZATION;
  return kinds;
}

libkineto::DeviceInfo row_of(int32_t device) {
  return {device, libkineto::kExceedMaxPid + device, "flagos", "flagos:" + std::to_string(device)};
}

struct Sink {
  TraceRecords& records;
  const ClockMap& clock;
  size_t count = 0;

  static void take(const flagos_activity* activity, void* self) {
    static_cast<Sink*>(self)->records.add(*activity, static_cast<Sink*>(self)->clock);
    ++static_cast<Sink*>(self)->count;
  }
};

}  // namespace

ProfilerSession::ProfilerSession(const flagos_tracer& tracer, std::set<libkineto::ActivityType> wanted)
    : tracer_(tracer), wanted_(std::move(wanted)) {}

ProfilerSession::~ProfilerSession() {
  if (running_.exchange(false)) tracer_.stop();
}

void ProfilerSession::fault(const std::string& sentence) {
  errors_.push_back(sentence);
  status_ = libkineto::TraceStatus::ERROR;
  trace_warning(sentence);
}

void ProfilerSession::start() {
  started_ = sample_clocks(tracer_);
  uint32_t granted = 0;
  if (!started_ || tracer_.start(kinds_for(wanted_), &granted) != FLAGOS_SUCCESS)
    return fault(tracer_failure(tracer_) + "; the profile has a CPU timeline only");
  status_ = libkineto::TraceStatus::RECORDING;
  running_.store(true, std::memory_order_release);
  trace_log(std::string(tracer_.name) + ": session started (" + names(granted) + ")");
  if (const uint32_t refused = kinds_for(wanted_) & ~granted; refused)
    trace_log(std::string(tracer_.name) + ": refused (" + names(refused) + "): " + tracer_failure(tracer_));
}

void ProfilerSession::stop() {
  if (!running_.exchange(false, std::memory_order_acq_rel)) return;
  status_ = libkineto::TraceStatus::PROCESSING;
  if (tracer_.stop() != FLAGOS_SUCCESS) fault(tracer_failure(tracer_));
  stopped_ = sample_clocks(tracer_);
  const ClockMap clock(*started_, stopped_.value_or(*started_));
  Sink sink{records_, clock};
  uint64_t dropped = 0;
  if (tracer_.deliver(&Sink::take, &sink, &dropped) != FLAGOS_SUCCESS) fault(tracer_failure(tracer_));
  if (dropped)
    fault(std::string(tracer_.name) + " dropped " + std::to_string(dropped) +
          " records, so the timeline has gaps; profile fewer steps at a time");
  trace_log(std::string(tracer_.name) + ": session stopped (" + std::to_string(sink.count) + " records, " +
            std::to_string(dropped) + " dropped)");
}

void ProfilerSession::processTrace(libkineto::ActivityLogger& logger) {
  processTrace(logger, nullptr, INT64_MIN, INT64_MAX);
}

void ProfilerSession::processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback operator_of,
                                   int64_t start, int64_t end) {
  records_.close(start, end);
  if (records_.outside()) trace_log(std::to_string(records_.outside()) + " records lie outside the profile's window");
  buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
  buffer_->gpuOpCount = 0;
  if (records_.all().empty()) return;
  buffer_->span = libkineto::TraceSpan(records_.all().front().start, records_.all().back().end, "flagos");
  buffer_->span.iteration = 0;
  write_events(records_, wanted_, operator_of, *buffer_);
  buffer_->span.opCount = static_cast<int>(buffer_->activities.size());
  for (const auto& event : buffer_->activities) event->log(logger);
  const auto devices = devices_of(records_);
  for (auto other = devices.begin(); other != devices.end(); ++other)
    if (other != devices.begin()) logger.handleDeviceInfo(row_of(*other), buffer_->span.startTime);
}

// libkineto asks for one device, and names sixteen rows "GPU" where there is none. The others are named above.
std::unique_ptr<libkineto::DeviceInfo> ProfilerSession::getDeviceInfo() {
  const auto devices = devices_of(records_);
  return std::make_unique<libkineto::DeviceInfo>(row_of(devices.empty() ? 0 : *devices.begin()));
}

std::vector<libkineto::ResourceInfo> ProfilerSession::getResourceInfos() {
  std::vector<libkineto::ResourceInfo> rows;
  for (const auto& [device, stream] : streams_of(records_))
    rows.push_back({stream, stream, device, "stream " + std::to_string(stream)});
  return rows;
}

// A failure here would come once an operator; its effect is that device work is not attributed.
void ProfilerSession::push(flagos_external_domain domain, uint64_t id) {
  if (running_.load(std::memory_order_acquire)) (void)tracer_.push_external(domain, id);
}

void ProfilerSession::pop(flagos_external_domain domain) {
  if (running_.load(std::memory_order_acquire)) (void)tracer_.pop_external(domain);
}

}  // namespace torch_fl
