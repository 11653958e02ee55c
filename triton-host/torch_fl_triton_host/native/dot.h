/* c += a @ b, row-major. Blocks of ROWS rows and two vectors of columns stay in registers while the inner dimension runs. */
typedef float vector8 __attribute__((vector_size(32), aligned(4), may_alias));
#define ROWS 4
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
#ifndef __has_builtin
#define __has_builtin(x) 0
#endif
#if defined(__FMA__) && __has_builtin(__builtin_ia32_vfmaddps256)
#define MULTIPLY_ADD(a, b, c) ((vector8)__builtin_ia32_vfmaddps256(a, b, c))
#elif __has_builtin(__builtin_elementwise_fma)
#define MULTIPLY_ADD(a, b, c) __builtin_elementwise_fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
INLINE void dot_block(int rows, int columns, int inner, const float *a, const float *b, float *c) {
  vector8 sum[ROWS][2];
  UNROLLED for (int r = 0; r < ROWS; ++r)
    UNROLLED for (int v = 0; v < 2; ++v) sum[r][v] = *(const vector8 *)(c + r * columns + 8 * v);
  for (int k = 0; k < inner; ++k) {
    vector8 first = *(const vector8 *)(b + k * columns), second = *(const vector8 *)(b + k * columns + 8);
    UNROLLED for (int r = 0; r < ROWS; ++r) {
      float x = a[r * inner + k];
      vector8 all = {x, x, x, x, x, x, x, x};
      sum[r][0] = MULTIPLY_ADD(all, first, sum[r][0]);
      sum[r][1] = MULTIPLY_ADD(all, second, sum[r][1]);
    }
  }
  UNROLLED for (int r = 0; r < ROWS; ++r)
    UNROLLED for (int v = 0; v < 2; ++v) *(vector8 *)(c + r * columns + 8 * v) = sum[r][v];
}
INLINE void dot_float(int rows, int columns, int inner, const float *a, const float *b, float *c) {
  if (rows % ROWS == 0 && columns % 16 == 0) {
    for (int j = 0; j < columns; j += 16)
      for (int i = 0; i < rows; i += ROWS) dot_block(rows, columns, inner, a + i * inner, b + j, c + i * columns + j);
    return;
  }
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < inner; ++k) {
      INDEPENDENT
      for (int j = 0; j < columns; ++j) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    }
}
#define DOT(NAME, A, C) \
  INLINE void dot_##NAME(int rows, int columns, int inner, const A *a, const A *b, C *c) { \
    for (int i = 0; i < rows; ++i) \
      for (int k = 0; k < inner; ++k) { \
        INDEPENDENT for (int j = 0; j < columns; ++j) c[i * columns + j] += (C)a[i * inner + k] * (C)b[k * columns + j]; \
      } \
  }
DOT(double, double, double)
DOT(int8, int8_t, int32_t)
DOT(int32, int32_t, int32_t)
