// SPDX-License-Identifier: Apache-2.0
#include "records.h"

#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cstring>

#include "buffers.h"
#include "clock.h"
#include "emulation/quirks.h"
#include "external.h"
#include "names.h"

namespace mupti {
namespace {

using Activity = flagos_emulation_v1_activity;

std::atomic<uint64_t> enabled{0};

bool wants(MUpti_ActivityKind kind) { return enabled.load(std::memory_order_relaxed) >> kind & 1; }

template <typename Record>
Record timed(MUpti_ActivityKind kind, const Activity& from) {
  Record record{};
  record.kind = kind;
  record.start = card_time(from.start);
  record.end = card_time(from.end);
  record.correlationId = static_cast<uint32_t>(from.correlation);
  return record;
}

template <typename Record>
Record of_device(MUpti_ActivityKind kind, const Activity& from) {
  auto record = timed<Record>(kind, from);
  record.deviceId = static_cast<uint32_t>(from.device);
  record.contextId = record.deviceId + 1;
  record.streamId = from.stream;
  return record;
}

template <typename Record>
void write(const Record& record) {
  static_assert(sizeof(Record) % 8 == 0 && alignof(Record) == 8, "records follow one another at multiples of 8 bytes");
  write_record(&record, record.kind);
}

// Both kinds of kernels: what runs on a default stream is taken for serialised when both are asked for (a guess: public code
// enables both and expects each kernel once).
void write_kernel(const Activity& from) {
  const bool serial = wants(MUPTI_ACTIVITY_KIND_KERNEL), concurrent = wants(MUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (!serial && !concurrent) return;
  const bool as_serial = serial && (!concurrent || from.stream == 0);
  auto record = of_device<MUpti_ActivityKernel6>(
      as_serial ? MUPTI_ACTIVITY_KIND_KERNEL : MUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, from);
  record.name = kept(mangled(from.name));
  record.gridX = record.gridY = record.gridZ = record.blockX = record.blockY = record.blockZ = 1;
  record.queued = record.submitted = record.start;
  write(record);
}

void write_copy(const Activity& from) {
  const bool to_device = from.to == FLAGOS_EMULATION_DEVICE, of_a_device = from.from == FLAGOS_EMULATION_DEVICE;
  if (to_device && of_a_device && from.from_device != from.to_device) {
    if (!wants(MUPTI_ACTIVITY_KIND_MEMCPY2)) return;
    auto record = of_device<MUpti_ActivityMemcpyPtoP3>(MUPTI_ACTIVITY_KIND_MEMCPY2, from);
    record.copyKind = MUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    record.bytes = from.bytes;
    record.srcDeviceId = static_cast<uint32_t>(from.from_device);
    record.dstDeviceId = static_cast<uint32_t>(from.to_device);
    return write(record);
  }
  if (!wants(MUPTI_ACTIVITY_KIND_MEMCPY)) return;
  auto record = of_device<MUpti_ActivityMemcpy4>(MUPTI_ACTIVITY_KIND_MEMCPY, from);
  record.copyKind = to_device     ? (of_a_device ? MUPTI_ACTIVITY_MEMCPY_KIND_DTOD : MUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
                    : of_a_device ? MUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                  : MUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
  record.srcKind = static_cast<uint8_t>(from.from);
  record.dstKind = static_cast<uint8_t>(from.to);
  record.bytes = from.bytes;
  write(record);
}

// Quirk mupti_memset: the kind can be enabled, and no record ever comes.
void write_fill(const Activity& from) {
  static const bool never = emulation::quirk("mupti_memset");
  if (never || !wants(MUPTI_ACTIVITY_KIND_MEMSET)) return;
  auto record = of_device<MUpti_ActivityMemset3>(MUPTI_ACTIVITY_KIND_MEMSET, from);
  record.value = static_cast<uint32_t>(from.value);
  record.bytes = from.bytes;
  write(record);
}

// The driver's functions are called muX, the runtime's musaX.
bool of_driver(const char* name) {
  return std::strncmp(name, "mu", 2) == 0 && std::isupper(static_cast<unsigned char>(name[2])) != 0;
}

void write_call(const Activity& from) {
  const auto layer = of_driver(from.name) ? MUPTI_ACTIVITY_KIND_DRIVER : MUPTI_ACTIVITY_KIND_RUNTIME;
  if (!wants(layer)) return;
  for (const auto kind : {MUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, MUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1}) {
    MUpti_ActivityExternalCorrelation external{MUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, kind, 0,
                                               static_cast<uint32_t>(from.correlation)};
    if (wants(external.kind) && innermost_external(kind, &external.externalId)) write(external);
  }
  auto record = timed<MUpti_ActivityAPI>(layer, from);
  record.cbid = number_of(from.name);
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = static_cast<uint32_t>(from.thread);
  record.returnValue = static_cast<uint32_t>(from.value);
  write(record);
}

void write_wait(const Activity& from) {
  if (!wants(MUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  auto record = timed<MUpti_ActivitySynchronization>(MUPTI_ACTIVITY_KIND_SYNCHRONIZATION, from);
  record.type = std::strstr(from.name, "Event")    ? MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE
                : std::strstr(from.name, "Stream") ? MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
                                                   : MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  record.contextId = static_cast<uint32_t>(from.device) + 1;
  record.streamId = from.stream;
  write(record);
}

void observe(void*, const Activity* activity) {
  switch (activity->kind) {
    case FLAGOS_EMULATION_KERNEL:
      return write_kernel(*activity);
    case FLAGOS_EMULATION_COPY:
      return write_copy(*activity);
    case FLAGOS_EMULATION_FILL:
      return write_fill(*activity);
    case FLAGOS_EMULATION_SYNCHRONIZE:
      write_wait(*activity);
      [[fallthrough]];
    case FLAGOS_EMULATION_CALL:
      return write_call(*activity);
  }
}

}  // namespace

void enable_kinds(uint64_t kinds) {
  const uint64_t before = enabled.exchange(kinds);
  if ((before == 0) != (kinds == 0)) flagos_emulation_v1_observe(kinds ? &observe : nullptr, nullptr);
}

size_t record_bytes(MUpti_ActivityKind kind) {
  switch (kind) {
    case MUPTI_ACTIVITY_KIND_KERNEL:
    case MUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(MUpti_ActivityKernel6);
    case MUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(MUpti_ActivityMemcpy4);
    case MUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(MUpti_ActivityMemcpyPtoP3);
    case MUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(MUpti_ActivityMemset3);
    case MUPTI_ACTIVITY_KIND_RUNTIME:
    case MUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(MUpti_ActivityAPI);
    case MUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(MUpti_ActivityExternalCorrelation);
    case MUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(MUpti_ActivitySynchronization);
    case MUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(MUpti_ActivityOverhead);
    default:
      return 0;
  }
}

}  // namespace mupti
