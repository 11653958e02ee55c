/* SPDX-License-Identifier: Apache-2.0
 * mupti_result.h of the emulated MUSA SDK: status codes. All numbers but that of success are guesses: CUPTI's.
 */
#ifndef MUPTI_RESULT_H
#define MUPTI_RESULT_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MUPTIAPI
#define MUPTIAPI
#endif

typedef enum {
  MUPTI_SUCCESS = 0,
  MUPTI_ERROR_INVALID_PARAMETER = 1,
  MUPTI_ERROR_INVALID_OPERATION = 7,
  MUPTI_ERROR_OUT_OF_MEMORY = 8,
  MUPTI_ERROR_MAX_LIMIT_REACHED = 12, /* no record is left in the buffer */
  MUPTI_ERROR_NOT_INITIALIZED = 15,
  MUPTI_ERROR_QUEUE_EMPTY = 18, /* nothing to pop */
  MUPTI_ERROR_INVALID_KIND = 21,
  MUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39, /* another tool traces this process */
  MUPTI_ERROR_UNKNOWN = 999
} MUptiResult;

__attribute__((visibility("default"))) MUptiResult MUPTIAPI muptiGetResultString(MUptiResult result, const char** text);

#ifdef __cplusplus
}
#endif
#endif
