// SPDX-License-Identifier: Apache-2.0
// callbacks.cpp: numbers of functions, and texts.
#include "mupti_callbacks.h"

#include "names.h"

extern "C" MUptiResult muptiGetCallbackName(MUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  if (!name || domain == MUPTI_CB_DOMAIN_INVALID) return MUPTI_ERROR_INVALID_PARAMETER;
  *name = mupti::name_of(cbid);
  return *name ? MUPTI_SUCCESS : MUPTI_ERROR_INVALID_PARAMETER;
}

extern "C" MUptiResult muptiGetResultString(MUptiResult result, const char** text) {
  if (!text) return MUPTI_ERROR_INVALID_PARAMETER;
  switch (result) {
#define NAMED(name) \
  case name:        \
    *text = #name;  \
    return MUPTI_SUCCESS;
    NAMED(MUPTI_SUCCESS)
    NAMED(MUPTI_ERROR_INVALID_PARAMETER)
    NAMED(MUPTI_ERROR_INVALID_OPERATION)
    NAMED(MUPTI_ERROR_OUT_OF_MEMORY)
    NAMED(MUPTI_ERROR_MAX_LIMIT_REACHED)
    NAMED(MUPTI_ERROR_NOT_INITIALIZED)
    NAMED(MUPTI_ERROR_QUEUE_EMPTY)
    NAMED(MUPTI_ERROR_INVALID_KIND)
    NAMED(MUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    NAMED(MUPTI_ERROR_UNKNOWN)
#undef NAMED
  }
  return MUPTI_ERROR_INVALID_PARAMETER;
}
