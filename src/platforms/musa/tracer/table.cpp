// SPDX-License-Identifier: Apache-2.0
// table.cpp: sessions of MUPTI, and the table of the tracer's contract.
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "records.h"

namespace flagos::musa {
namespace {

constexpr size_t kBufferBytes = size_t{4} << 20;
constexpr uint32_t kForced = 1;  // also buffers that are not full

// In the order in which they are enabled; what is refused is left out. MUPTI serialises kernels where only KERNEL is enabled.
constexpr std::pair<flagos_activity_kind, MUpti_ActivityKind> kKinds[] = {
    {FLAGOS_ACTIVITY_EXTERNAL, MUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
    {FLAGOS_ACTIVITY_RUNTIME, MUPTI_ACTIVITY_KIND_RUNTIME},
    {FLAGOS_ACTIVITY_DRIVER, MUPTI_ACTIVITY_KIND_DRIVER},
    {FLAGOS_ACTIVITY_SYNCHRONIZATION, MUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
    {FLAGOS_ACTIVITY_OVERHEAD, MUPTI_ACTIVITY_KIND_OVERHEAD},
    {FLAGOS_ACTIVITY_MEMCPY, MUPTI_ACTIVITY_KIND_MEMCPY},
    {FLAGOS_ACTIVITY_MEMCPY, MUPTI_ACTIVITY_KIND_MEMCPY2},
    {FLAGOS_ACTIVITY_MEMSET, MUPTI_ACTIVITY_KIND_MEMSET},
    {FLAGOS_ACTIVITY_KERNEL, MUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {FLAGOS_ACTIVITY_KERNEL, MUPTI_ACTIVITY_KIND_KERNEL},
};

struct Buffer {
  uint8_t* data;
  size_t valid;
};

// Buffers that MUPTI gave back in this session, and what it dropped.
struct Session {
  std::mutex mutex;
  std::vector<Buffer> buffers;
  uint64_t dropped = 0;
  std::vector<MUpti_ActivityKind> enabled;  // of the controlling thread

  void clear() {
    std::lock_guard lock(mutex);
    for (const auto& buffer : buffers) std::free(buffer.data);
    buffers.clear();
    dropped = 0;
  }
};

Session& session() {
  static auto* instance = new Session();  // MUPTI may call back while the process exits
  return *instance;
}

void count_dropped(MUcontext context, uint32_t stream) {
  size_t more = 0;
  if (mupti()->dropped_records(context, stream, &more) != MUPTI_SUCCESS) return;
  std::lock_guard lock(session().mutex);
  session().dropped += more;
}

void MUPTIAPI request(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::malloc(kBufferBytes));  // malloc aligns to 16
  *size = *buffer ? kBufferBytes : 0;
  *most_records = 0;
}

void MUPTIAPI complete(MUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  count_dropped(context, stream);
  std::lock_guard lock(session().mutex);
  session().buffers.push_back({buffer, valid});
}

flagos_status open(const char* file, const char** opened) {
  static bool registered = false;
  if (const auto status = open_mupti(file, opened); status != FLAGOS_SUCCESS || registered) return status;
  const auto status = checked(mupti()->register_callbacks(&request, &complete), "take the tracing of this process");
  registered = status == FLAGOS_SUCCESS;
  return status;
}

flagos_status now(uint64_t* nanoseconds) { return checked(mupti()->timestamp(nanoseconds), "read its clock"); }

flagos_status start(uint32_t kinds, uint32_t* granted) {
  *granted = 0;
  mupti()->flush(kForced);
  count_dropped(nullptr, 0);
  session().clear();
  session().enabled.clear();
  flagos_status status = FLAGOS_SUCCESS;
  for (const auto& [kind, theirs] : kKinds) {
    if ((kinds >> kind & 1) == 0) continue;
    status = checked(mupti()->enable(theirs), "enable a kind of records");
    if (status != FLAGOS_SUCCESS) continue;
    *granted |= 1u << kind;
    session().enabled.push_back(theirs);
  }
  return *granted ? FLAGOS_SUCCESS : status;
}

flagos_status stop() {
  for (const auto kind : session().enabled) mupti()->disable(kind);
  session().enabled.clear();
  const auto status = checked(mupti()->flush(kForced), "hand over its records");
  count_dropped(nullptr, 0);
  return status;
}

flagos_status deliver(flagos_activity_sink sink, void* argument, uint64_t* dropped) {
  std::vector<Buffer> buffers;
  {
    std::lock_guard lock(session().mutex);
    buffers.swap(session().buffers);
    *dropped = session().dropped;
  }
  flagos_status status = FLAGOS_SUCCESS;
  for (const auto& buffer : buffers) {
    flagos_activity activity;
    MUpti_Activity* record = nullptr;
    MUptiResult result;
    while ((result = mupti()->next_record(buffer.data, buffer.valid, &record)) == MUPTI_SUCCESS)
      if (translate(*record, &activity)) sink(&activity, argument);
    if (result != MUPTI_ERROR_MAX_LIMIT_REACHED) status = checked(result, "read a record");
    std::free(buffer.data);
  }
  return status;
}

MUpti_ExternalCorrelationKind kind_of(flagos_external_domain domain) {
  return domain == FLAGOS_EXTERNAL_ANNOTATION ? kAnnotationIds : kOperatorIds;
}

flagos_status push_external(flagos_external_domain domain, uint64_t id) {
  return checked(mupti()->push_external(kind_of(domain), id), "take an operator's id");
}

flagos_status pop_external(flagos_external_domain domain) {
  uint64_t id = 0;
  return checked(mupti()->pop_external(kind_of(domain), &id), "drop an operator's id");
}

}  // namespace
}  // namespace flagos::musa

extern "C" __attribute__((visibility("default"))) const flagos_tracer* flagos_tracer_entry(void) {
  using namespace flagos::musa;
  static const flagos_tracer table = {
      .magic = FLAGOS_TRACER_MAGIC,
      .abi_major = FLAGOS_TRACER_ABI_MAJOR,
      .abi_minor = FLAGOS_TRACER_ABI_MINOR,
      .id = "musa",
      .name = "MUPTI",
      .struct_size = sizeof(flagos_tracer),
      .last_error = last_error,
      .open = flagos::musa::open,
      .now = now,
      .start = start,
      .stop = stop,
      .deliver = deliver,
      .push_external = push_external,
      .pop_external = pop_external,
  };
  return &table;
}
