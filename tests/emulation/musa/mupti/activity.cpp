// SPDX-License-Identifier: Apache-2.0
// activity.cpp: the interface of the emulated MUPTI.
#include "mupti_activity.h"

#include <cstdlib>
#include <mutex>

#include "buffers.h"
#include "clock.h"
#include "records.h"

namespace {

std::mutex switching;
uint64_t kinds = 0;  // guarded by it

MUptiResult change(MUpti_ActivityKind kind, bool on) {
  if (mupti::record_bytes(kind) == 0) return MUPTI_ERROR_INVALID_KIND;
  std::lock_guard lock(switching);
  kinds = on ? kinds | uint64_t{1} << kind : kinds & ~(uint64_t{1} << kind);
  mupti::enable_kinds(kinds);
  return MUPTI_SUCCESS;
}

}  // namespace

extern "C" {

MUptiResult muptiActivityEnable(MUpti_ActivityKind kind) { return change(kind, true); }
MUptiResult muptiActivityDisable(MUpti_ActivityKind kind) { return change(kind, false); }

MUptiResult muptiActivityRegisterCallbacks(MUpti_BuffersCallbackRequestFunc request,
                                           MUpti_BuffersCallbackCompleteFunc complete) {
  // FLAGOS_EMULATION_MUPTI_BUSY=1: as if another tool had subscribed first.
  if (std::getenv("FLAGOS_EMULATION_MUPTI_BUSY")) return MUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  return mupti::set_callbacks(request, complete);
}

MUptiResult muptiActivityFlushAll(uint32_t) {
  mupti::flush();
  return MUPTI_SUCCESS;
}

MUptiResult muptiActivityGetNextRecord(uint8_t* buffer, size_t validSize, MUpti_Activity** record) {
  if (!buffer || !record) return MUPTI_ERROR_INVALID_PARAMETER;
  auto* next = *record ? reinterpret_cast<uint8_t*>(*record) + mupti::record_bytes((*record)->kind) : buffer;
  if (next >= buffer + validSize) return MUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<MUpti_Activity*>(next);
  return MUPTI_SUCCESS;
}

MUptiResult muptiActivityGetNumDroppedRecords(MUcontext, uint32_t, size_t* dropped) {
  if (!dropped) return MUPTI_ERROR_INVALID_PARAMETER;
  *dropped = mupti::take_dropped();
  return MUPTI_SUCCESS;
}

MUptiResult muptiGetTimestamp(uint64_t* timestamp) {
  if (!timestamp) return MUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = mupti::now();
  return MUPTI_SUCCESS;
}

}  // extern "C"
