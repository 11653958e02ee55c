/* SPDX-License-Identifier: Apache-2.0
 * murand.h: the part of muRAND that torch-fl uses, declared anew from public call sites (see musa_runtime_api.h). */
#ifndef MURAND_H
#define MURAND_H

#include <stddef.h>

#include "musa_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum murandStatus { /* names in public use; numbers are cuRAND's: guess */
                            MURAND_STATUS_SUCCESS = 0,
                            MURAND_STATUS_VERSION_MISMATCH = 100,
                            MURAND_STATUS_NOT_INITIALIZED = 101,
                            MURAND_STATUS_ALLOCATION_FAILED = 102,
                            MURAND_STATUS_TYPE_ERROR = 103,
                            MURAND_STATUS_OUT_OF_RANGE = 104,
                            MURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
                            MURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
                            MURAND_STATUS_LAUNCH_FAILURE = 201,
                            MURAND_STATUS_PREEXISTING_FAILURE = 202,
                            MURAND_STATUS_INITIALIZATION_FAILED = 203,
                            MURAND_STATUS_ARCH_MISMATCH = 204,
                            MURAND_STATUS_INTERNAL_ERROR = 999,
                            MURAND_STATUS_NOT_IMPLEMENTED = 1000
} murandStatus_t;

typedef enum murandRngType { /* numbers in public use */
                             MURAND_RNG_PSEUDO_DEFAULT = 400,
                             MURAND_RNG_PSEUDO_XORWOW = 401,
                             MURAND_RNG_PSEUDO_MRG32K3A = 402,
                             MURAND_RNG_PSEUDO_MTGP32 = 403,
                             MURAND_RNG_PSEUDO_PHILOX4_32_10 = 404
} murandRngType_t;

typedef struct murandGenerator_st* murandGenerator_t;

murandStatus_t murandGetVersion(int* version);
murandStatus_t murandCreateGenerator(murandGenerator_t* generator, murandRngType_t type);
murandStatus_t murandDestroyGenerator(murandGenerator_t generator);
murandStatus_t murandSetStream(murandGenerator_t generator, musaStream_t stream);
murandStatus_t murandSetPseudoRandomGeneratorSeed(murandGenerator_t generator, unsigned long long seed);
/* The absolute place in the sequence, counted in 32-bit numbers. */
murandStatus_t murandSetGeneratorOffset(murandGenerator_t generator, unsigned long long offset);

/* `numbers` are device memory of the generator's stream; filled in stream order. */
murandStatus_t murandGenerate(murandGenerator_t generator, unsigned int* numbers, size_t count);
murandStatus_t murandGenerateLongLong(murandGenerator_t generator, unsigned long long* numbers, size_t count);
murandStatus_t murandGenerateUniform(murandGenerator_t generator, float* numbers, size_t count); /* in (0, 1] */
murandStatus_t murandGenerateUniformDouble(murandGenerator_t generator, double* numbers, size_t count);
/* `count` must be even. */
murandStatus_t murandGenerateNormal(murandGenerator_t generator, float* numbers, size_t count, float mean, float stddev);
murandStatus_t murandGenerateNormalDouble(murandGenerator_t generator, double* numbers, size_t count, double mean,
                                          double stddev);

#ifdef __cplusplus
}
#endif
#endif
