/* SPDX-License-Identifier: Apache-2.0
 * musa_runtime.h: host code gets the runtime from here; the vendor's file adds what device code needs. */
#ifndef MUSA_RUNTIME_H
#define MUSA_RUNTIME_H

#include "musa_runtime_api.h"

#endif
