// SPDX-License-Identifier: Apache-2.0
// profiler_session.h: one profile, from its start to the events of its trace.
#pragma once

#include <libkineto.h>

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tracer.h"
#include "tracer_clock.h"
#include "tracer_records.h"

namespace torch_fl {

// Called by libkineto: start and stop on the profiling thread, push and pop on every thread that runs operators.
class ProfilerSession final : public libkineto::IActivityProfilerSession {
 public:
  ProfilerSession(const flagos_tracer& tracer, std::set<libkineto::ActivityType> wanted);
  ~ProfilerSession() override;

  void start() override;
  void stop() override;
  std::vector<std::string> errors() override { return errors_; }

  void processTrace(libkineto::ActivityLogger& logger) override;
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback operator_of, int64_t start,
                    int64_t end) override;

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override;
  std::vector<libkineto::ResourceInfo> getResourceInfos() override;
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }

  void pushCorrelationId(uint64_t id) override { push(FLAGOS_EXTERNAL_OPERATOR, id); }
  void popCorrelationId() override { pop(FLAGOS_EXTERNAL_OPERATOR); }
  void pushUserCorrelationId(uint64_t id) override { push(FLAGOS_EXTERNAL_ANNOTATION, id); }
  void popUserCorrelationId() override { pop(FLAGOS_EXTERNAL_ANNOTATION); }

 private:
  void push(flagos_external_domain domain, uint64_t id);
  void pop(flagos_external_domain domain);
  void fault(const std::string& sentence);

  const flagos_tracer& tracer_;
  const std::set<libkineto::ActivityType> wanted_;
  std::atomic<bool> running_{false};
  std::optional<ClockSample> started_, stopped_;
  TraceRecords records_;
  std::vector<std::string> errors_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;  // owns the events of the trace
};

}  // namespace torch_fl
