// SPDX-License-Identifier: Apache-2.0
// Matrix products in host memory.
#pragma once

#include <cstdint>

namespace musa::dnn::emulation {

// c = a @ b (a: m x k, b: k x n, c: m x n, all contiguous, rows first). Integers wrap.
void gemm(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
void gemm(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);
void gemm(int64_t m, int64_t n, int64_t k, const uint64_t* a, const uint64_t* b, uint64_t* c);

}  // namespace musa::dnn::emulation
