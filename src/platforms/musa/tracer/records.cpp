// SPDX-License-Identifier: Apache-2.0
#include "records.h"

namespace flagos::musa {
namespace {

const char* copy_name(uint8_t kind) {
  switch (kind) {
    case MUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "HtoD";
    case MUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "DtoH";
    case MUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "DtoD";
    case MUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "HtoH";
    case MUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    default:
      return "";
  }
}

const char* wait_name(MUpti_ActivitySynchronizationType type) {
  switch (type) {
    case MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "Event Synchronize";
    case MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return "Stream Wait Event";
    case MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "Stream Synchronize";
    case MUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "Context Synchronize";
    default:
      return "Synchronize";
  }
}

template <typename Record>
bool with_times(const MUpti_Activity& record, flagos_activity_kind kind, flagos_activity* out) {
  const auto& from = reinterpret_cast<const Record&>(record);
  out->kind = kind;
  out->start = from.start;
  out->end = from.end;
  return from.start != 0 && from.end >= from.start;
}

template <typename Record>
bool of_device(const MUpti_Activity& record, flagos_activity_kind kind, flagos_activity* out) {
  const auto& from = reinterpret_cast<const Record&>(record);
  out->correlation = from.correlationId;
  out->device = static_cast<int32_t>(from.deviceId);
  out->context = from.contextId;
  out->stream = from.streamId;
  return with_times<Record>(record, kind, out);
}

bool kernel(const MUpti_Activity& record, flagos_activity* out) {
  const auto& from = reinterpret_cast<const MUpti_ActivityKernel6&>(record);
  out->name = from.name;
  const int32_t grid[] = {from.gridX, from.gridY, from.gridZ}, block[] = {from.blockX, from.blockY, from.blockZ};
  for (int axis = 0; axis < 3; ++axis) {
    out->grid[axis] = grid[axis];
    out->block[axis] = block[axis];
  }
  out->registers = from.registersPerThread;
  out->shared_memory = static_cast<uint64_t>(from.staticSharedMemory) + static_cast<uint64_t>(from.dynamicSharedMemory);
  return of_device<MUpti_ActivityKernel6>(record, FLAGOS_ACTIVITY_KERNEL, out);
}

template <typename Record>
bool copy(const MUpti_Activity& record, flagos_activity* out) {
  const auto& from = reinterpret_cast<const Record&>(record);
  out->name = copy_name(from.copyKind);
  out->bytes = from.bytes;
  return of_device<Record>(record, FLAGOS_ACTIVITY_MEMCPY, out);
}

bool fill(const MUpti_Activity& record, flagos_activity* out) {
  out->bytes = reinterpret_cast<const MUpti_ActivityMemset3&>(record).bytes;
  return of_device<MUpti_ActivityMemset3>(record, FLAGOS_ACTIVITY_MEMSET, out);
}

bool call(const MUpti_Activity& record, MUpti_CallbackDomain domain, flagos_activity_kind kind, flagos_activity* out) {
  const auto& from = reinterpret_cast<const MUpti_ActivityAPI&>(record);
  if (mupti()->callback_name(domain, from.cbid, &out->name) != MUPTI_SUCCESS || !out->name) out->name = "";
  out->correlation = from.correlationId;
  out->thread = from.threadId;
  out->result = static_cast<int32_t>(from.returnValue);
  return with_times<MUpti_ActivityAPI>(record, kind, out);
}

bool wait(const MUpti_Activity& record, flagos_activity* out) {
  const auto& from = reinterpret_cast<const MUpti_ActivitySynchronization&>(record);
  out->name = wait_name(from.type);
  out->correlation = from.correlationId;
  out->context = from.contextId;
  out->stream = from.streamId;
  return with_times<MUpti_ActivitySynchronization>(record, FLAGOS_ACTIVITY_SYNCHRONIZATION, out);
}

bool overhead(const MUpti_Activity& record, flagos_activity* out) {
  const auto& from = reinterpret_cast<const MUpti_ActivityOverhead&>(record);
  out->name = "MUPTI overhead";
  out->thread = from.objectId.pt.threadId;
  return with_times<MUpti_ActivityOverhead>(record, FLAGOS_ACTIVITY_OVERHEAD, out);
}

bool external(const MUpti_Activity& record, flagos_activity* out) {
  const auto& from = reinterpret_cast<const MUpti_ActivityExternalCorrelation&>(record);
  out->kind = FLAGOS_ACTIVITY_EXTERNAL;
  out->correlation = from.correlationId;
  out->external_id = from.externalId;
  out->domain = from.externalKind == kAnnotationIds ? FLAGOS_EXTERNAL_ANNOTATION : FLAGOS_EXTERNAL_OPERATOR;
  return from.externalKind == kOperatorIds || from.externalKind == kAnnotationIds;
}

}  // namespace

bool translate(const MUpti_Activity& record, flagos_activity* out) {
  *out = {};
  out->struct_size = sizeof(*out);
  out->name = "";
  switch (record.kind) {
    case MUPTI_ACTIVITY_KIND_KERNEL:
    case MUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kernel(record, out);
    case MUPTI_ACTIVITY_KIND_MEMCPY:
      return copy<MUpti_ActivityMemcpy4>(record, out);
    case MUPTI_ACTIVITY_KIND_MEMCPY2:
      return copy<MUpti_ActivityMemcpyPtoP3>(record, out);
    case MUPTI_ACTIVITY_KIND_MEMSET:
      return fill(record, out);
    case MUPTI_ACTIVITY_KIND_RUNTIME:
      return call(record, MUPTI_CB_DOMAIN_RUNTIME_API, FLAGOS_ACTIVITY_RUNTIME, out);
    case MUPTI_ACTIVITY_KIND_DRIVER:
      return call(record, MUPTI_CB_DOMAIN_DRIVER_API, FLAGOS_ACTIVITY_DRIVER, out);
    case MUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return wait(record, out);
    case MUPTI_ACTIVITY_KIND_OVERHEAD:
      return overhead(record, out);
    case MUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return external(record, out);
    default:
      return false;
  }
}

}  // namespace flagos::musa
