/* SPDX-License-Identifier: Apache-2.0
 * cuda_runtime.h: host code gets the runtime from here; cu-bridge's file adds what device code needs. */
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#endif
