// SPDX-License-Identifier: Apache-2.0
// profiler_events.h: records as events of a trace.
#pragma once

#include <libkineto.h>

#include <set>
#include <utility>

#include "tracer_records.h"

namespace torch_fl {

// Appends an event for each record of a wanted type, in the order of the records. Events of device work and calls point to the
// operator that made them, `operator_of(external id)`; an annotation (torch.profiler.record_function) gets one event for each
// stream that worked for it.
void write_events(const TraceRecords& records, const std::set<libkineto::ActivityType>& wanted,
                  const libkineto::getLinkedActivityCallback& operator_of, libkineto::CpuTraceBuffer& buffer);

std::set<int32_t> devices_of(const TraceRecords& records);
std::set<std::pair<int32_t, uint32_t>> streams_of(const TraceRecords& records);  // (device, stream)

}  // namespace torch_fl
