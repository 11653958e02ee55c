// SPDX-License-Identifier: Apache-2.0
// Blocked as Goto and van de Geijn do (Anatomy of High-Performance Matrix Multiplication, 2008), with two levels only:
// b is packed into panels of two vectors' width, and a tile of kRows x two vectors is kept in registers along a block of k.
#include "gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "parallel.h"

namespace musa::dnn::emulation {
namespace {

constexpr int64_t kRows = 4;
constexpr int64_t kDepth = 256;  // of a block of k: a panel of it fits the first-level cache

template <class T>
struct Vector {
  typedef T Type __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
  static constexpr int64_t kWidth = 32 / sizeof(T);
};
template <class T>
constexpr int64_t kPanel = 2 * Vector<T>::kWidth;

// c[rows x panel] += a[rows x depth] @ panel[depth x kPanel]; lda, ldc: elements from row to row.
template <class T, int64_t rows>
[[gnu::always_inline]] inline void tile(int64_t depth, const T* a, int64_t lda, const T* panel, T* c, int64_t ldc) {
  using V = typename Vector<T>::Type;
  V sum[rows][2] = {};
  for (int64_t p = 0; p < depth; ++p) {
    const V left = *reinterpret_cast<const V*>(panel + p * kPanel<T>);
    const V right = *reinterpret_cast<const V*>(panel + p * kPanel<T> + Vector<T>::kWidth);
    for (int64_t i = 0; i < rows; ++i) {
      const T factor = a[i * lda + p];
      sum[i][0] += factor * left;
      sum[i][1] += factor * right;
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    *reinterpret_cast<V*>(c + i * ldc) += sum[i][0];
    *reinterpret_cast<V*>(c + i * ldc + Vector<T>::kWidth) += sum[i][1];
  }
}

template <class T>
[[gnu::always_inline]] inline void rows_by_panel(int64_t rows, int64_t depth, const T* a, int64_t lda, const T* panel, T* c,
                                                 int64_t ldc) {
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows) tile<T, kRows>(depth, a + i * lda, lda, panel, c + i * ldc, ldc);
  for (; i < rows; ++i) tile<T, 1>(depth, a + i * lda, lda, panel, c + i * ldc, ldc);
}

// The loader picks the variant for the machine's processor.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EMULATION_CLONES(feature) __attribute__((target_clones(feature, "default")))
#else
#define EMULATION_CLONES(feature)
#endif
EMULATION_CLONES("fma")
void kernel(int64_t rows, int64_t depth, const float* a, int64_t lda, const float* panel, float* c, int64_t ldc) {
  rows_by_panel(rows, depth, a, lda, panel, c, ldc);
}
EMULATION_CLONES("fma")
void kernel(int64_t rows, int64_t depth, const double* a, int64_t lda, const double* panel, double* c, int64_t ldc) {
  rows_by_panel(rows, depth, a, lda, panel, c, ldc);
}
EMULATION_CLONES("avx2")
void kernel(int64_t rows, int64_t depth, const uint64_t* a, int64_t lda, const uint64_t* panel, uint64_t* c, int64_t ldc) {
  rows_by_panel(rows, depth, a, lda, panel, c, ldc);
}

template <class T>
void product(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  if (m == 0 || n == 0) return;
  const int64_t panels = (n + kPanel<T> - 1) / kPanel<T>;
  std::vector<T> packed(panels * k * kPanel<T>);  // [panel][k][kPanel], padded with zeros
  for (int64_t j = 0; j < panels; ++j) {
    const int64_t width = std::min(kPanel<T>, n - j * kPanel<T>);
    for (int64_t p = 0; p < k; ++p)
      std::copy_n(b + p * n + j * kPanel<T>, width, packed.data() + (j * k + p) * kPanel<T>);
  }
  parallel(m, kRows, 2.0 * m * n * k, [&](int64_t first, int64_t last) {
    constexpr int64_t kBlock = 64;  // rows
    std::vector<T> tiles(kBlock * panels * kPanel<T>);
    const int64_t ldc = panels * kPanel<T>;
    for (int64_t row = first; row < last; row += kBlock) {
      const int64_t rows = std::min(kBlock, last - row);
      std::fill_n(tiles.data(), rows * ldc, T(0));
      for (int64_t p = 0; p < k; p += kDepth)
        for (int64_t j = 0; j < panels; ++j)
          kernel(rows, std::min(kDepth, k - p), a + row * k + p, k, packed.data() + (j * k + p) * kPanel<T>,
                 tiles.data() + j * kPanel<T>, ldc);
      for (int64_t i = 0; i < rows; ++i) std::copy_n(tiles.data() + i * ldc, n, c + (row + i) * n);
    }
  });
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) { product(m, n, k, a, b, c); }
void gemm(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) { product(m, n, k, a, b, c); }
void gemm(int64_t m, int64_t n, int64_t k, const uint64_t* a, const uint64_t* b, uint64_t* c) { product(m, n, k, a, b, c); }

}  // namespace musa::dnn::emulation
