/* SPDX-License-Identifier: Apache-2.0
 * mupti_callbacks.h of the emulated MUSA SDK: names of traced functions. The numbers of domains and functions are guesses.
 */
#ifndef MUPTI_CALLBACKS_H
#define MUPTI_CALLBACKS_H

#include <stdint.h>

#include "mupti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  MUPTI_CB_DOMAIN_INVALID = 0,
  MUPTI_CB_DOMAIN_DRIVER_API = 1,
  MUPTI_CB_DOMAIN_RUNTIME_API = 2
} MUpti_CallbackDomain;

/* The name lives on. */
__attribute__((visibility("default"))) MUptiResult MUPTIAPI muptiGetCallbackName(MUpti_CallbackDomain domain, uint32_t cbid,
                                                                               const char** name);

#ifdef __cplusplus
}
#endif
#endif
