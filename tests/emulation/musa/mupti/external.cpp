// SPDX-License-Identifier: Apache-2.0
#include "external.h"

#include <array>
#include <vector>

namespace mupti {
namespace {

thread_local std::array<std::vector<uint64_t>, MUPTI_EXTERNAL_CORRELATION_KIND_SIZE> stacks;

bool known(MUpti_ExternalCorrelationKind kind) {
  return kind > MUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < MUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

}  // namespace

bool innermost_external(MUpti_ExternalCorrelationKind kind, uint64_t* id) {
  const auto& stack = stacks[kind];
  if (stack.empty()) return false;
  *id = stack.back();
  return true;
}

}  // namespace mupti

extern "C" MUptiResult muptiActivityPushExternalCorrelationId(MUpti_ExternalCorrelationKind kind, uint64_t id) {
  if (!mupti::known(kind)) return MUPTI_ERROR_INVALID_PARAMETER;
  mupti::stacks[kind].push_back(id);
  return MUPTI_SUCCESS;
}

extern "C" MUptiResult muptiActivityPopExternalCorrelationId(MUpti_ExternalCorrelationKind kind, uint64_t* lastId) {
  if (!mupti::known(kind)) return MUPTI_ERROR_INVALID_PARAMETER;
  auto& stack = mupti::stacks[kind];
  if (stack.empty()) return MUPTI_ERROR_QUEUE_EMPTY;
  if (lastId) *lastId = stack.back();
  stack.pop_back();
  return MUPTI_SUCCESS;
}
