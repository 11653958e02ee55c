// SPDX-License-Identifier: Apache-2.0
// trace.cpp: the core's clock and record keeping, fed with records of our own. Usage: trace <case>; prints one JSON object.
#include <cstdio>
#include <string>

#include "tracer_clock.h"
#include "tracer_records.h"

using namespace torch_fl;

namespace {

flagos_activity record(flagos_activity_kind kind, const char* name, uint64_t start, uint64_t end, uint32_t correlation) {
  flagos_activity activity{};
  activity.struct_size = sizeof(activity);
  activity.kind = kind;
  activity.name = name;
  activity.start = start;
  activity.end = end;
  activity.correlation = correlation;
  return activity;
}

// Realtime = tracer + 1000, which keeps the numbers readable.
const ClockMap kClock({0, 1000}, {1'000'000, 1'001'000});

void print_records(TraceRecords& records, int64_t start, int64_t end) {
  records.close(start, end);
  std::printf("{\"outside\": %zu, \"records\": [", records.outside());
  const char* comma = "";
  for (const auto& each : records.all()) {
    std::printf("%s{\"name\": \"%s\", \"start\": %ld, \"end\": %ld, \"arrow\": %s, \"device\": %s, \"operator\": %ld, \"bytes\": %lu, \"thread\": %u}",
                comma, each.name.c_str(), each.start, each.end, records.has_arrow(each) ? "true" : "false",
                each.on_device() ? "true" : "false",
                static_cast<long>(records.external(FLAGOS_EXTERNAL_OPERATOR, each.from.correlation).value_or(0)), each.from.bytes, records.thread(each));
    comma = ", ";
  }
  std::printf("]}\n");
}

void clock() {
  // A tracer that is 1/1024 faster and began elsewhere, over 100 seconds.
  const uint64_t origin = 3'000'000'000'000'000'000, seconds = 1'000'000'000;
  const ClockMap map({origin, 1'700'000'000 * int64_t{1'000'000'000}},
                     {origin + 100 * seconds + 100 * seconds / 1024, 1'700'000'100 * int64_t{1'000'000'000}});
  std::printf("{\"start\": %ld, \"middle\": %ld, \"before\": %ld}\n", map.realtime(origin),
              map.realtime(origin + 50 * seconds + 50 * seconds / 1024), map.realtime(origin - 1024 - 1));
}

void arrows() {
  TraceRecords records;
  records.add(record(FLAGOS_ACTIVITY_KERNEL, "_ZN4musa3dnn5Unary3ABSEv", 30, 40, 1), kClock);
  records.add(record(FLAGOS_ACTIVITY_DRIVER, "muLaunchKernel", 12, 18, 1), kClock);
  records.add(record(FLAGOS_ACTIVITY_RUNTIME, "musaLaunchKernel", 10, 20, 1), kClock);
  auto call = record(FLAGOS_ACTIVITY_RUNTIME, "musaStreamSynchronize", 21, 22, 2);
  call.thread = 55;
  records.add(call, kClock);
  records.add(record(FLAGOS_ACTIVITY_SYNCHRONIZATION, "Stream Synchronize", 21, 22, 2), kClock);
  records.add(record(FLAGOS_ACTIVITY_MEMCPY, "HtoD", 50, 60, 3), kClock);  // its call is lost
  auto external = record(FLAGOS_ACTIVITY_EXTERNAL, nullptr, 0, 0, 1);
  external.external_id = 77;
  external.domain = FLAGOS_EXTERNAL_OPERATOR;
  records.add(external, kClock);
  external.correlation = 77;  // a vendor's number that equals PyTorch's id of something else
  external.external_id = 5;
  records.add(external, kClock);
  print_records(records, 0, 1'000'000);
}

void window() {
  TraceRecords records;
  records.add(record(FLAGOS_ACTIVITY_KERNEL, "before", 10, 20, 1), kClock);
  records.add(record(FLAGOS_ACTIVITY_KERNEL, "across", 90, 110, 2), kClock);
  records.add(record(FLAGOS_ACTIVITY_KERNEL, "inside", 100, 200, 3), kClock);
  records.add(record(FLAGOS_ACTIVITY_KERNEL, "after", 190, 201, 4), kClock);
  print_records(records, 1100, 1200);
}

void older() {  // a tracer built when the record had fewer fields
  TraceRecords records;
  auto activity = record(FLAGOS_ACTIVITY_MEMCPY, "HtoD", 1, 2, 3);
  activity.bytes = 99;
  activity.struct_size = offsetof(flagos_activity, bytes);
  records.add(activity, kClock);
  print_records(records, 0, 1'000'000);
}

}  // namespace

int main(int, char** arguments) {
  const std::string name = arguments[1];
  if (name == "clock") clock();
  if (name == "arrows") arrows();
  if (name == "window") window();
  if (name == "older") older();
}
