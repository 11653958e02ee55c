/* SPDX-License-Identifier: Apache-2.0
 * mc_runtime.h: host code gets the runtime from here; the vendor's file adds what device code needs. */
#ifndef MC_RUNTIME_H
#define MC_RUNTIME_H

#include "mc_runtime_api.h"

#endif
