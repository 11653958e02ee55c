/* What every kernel's C file begins with: conversions between formats, integer arithmetic without traps.

   Each function is small and free of branches that a compiler could not turn into selections, so that a loop which calls it
   still becomes vector instructions. No library header but stdint.h: reading headers would take longer than compiling. */
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline, unused))
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* In a loop that is short: keeps the compiler from spending time on vector instructions for it. */
#define SCALAR __asm__ volatile("")

INLINE uint32_t float_bits(float x) { union { float f; uint32_t u; } v = { .f = x }; return v.u; }
INLINE float bits_float(uint32_t x) { union { uint32_t u; float f; } v = { .u = x }; return v.f; }
INLINE uint64_t double_bits(double x) { union { double f; uint64_t u; } v = { .f = x }; return v.u; }
INLINE double bits_double(uint64_t x) { union { uint64_t u; double f; } v = { .u = x }; return v.f; }

/* A selection without a branch, whatever the compiler thinks of one. */
INLINE uint32_t pick(_Bool condition, uint32_t yes, uint32_t no) {
  uint32_t mask = 0 - (uint32_t)condition;
  return (yes & mask) | (no & ~mask);
}

/* bfloat16: the upper half of a float32; rounding is to the nearest, ties to even, on the bits. */
INLINE float from_bf16(uint16_t x) { return bits_float((uint32_t)x << 16); }
INLINE uint16_t to_bf16(float x) {
  uint32_t u = float_bits(x);
  return (uint16_t)pick(x != x, u >> 16 | 0x40, (u + 0x7fff + (u >> 16 & 1)) >> 16);
}
INLINE float round_bf16(float x) {
  uint32_t u = float_bits(x);
  return bits_float(pick(x != x, u | 0x400000, u + 0x7fff + (u >> 16 & 1)) & 0xffff0000);
}
INLINE float round_bf16_to_zero(float x) { return x != x ? x : bits_float(float_bits(x) & 0xffff0000); }

/* float16 (IEEE 754 binary16). Reading: the exponent's bias differs by 112, and a product with 2^112 also normalises
   subnormal numbers. Writing: a number below 2^-14 is rounded by adding 0.5, whose last place is 2^-24. */
INLINE float from_f16(uint16_t x) {
  uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13;
  uint32_t finite = float_bits(bits_float(magnitude) * 0x1p112f);
  uint32_t u = pick(magnitude >= 0x0f800000, magnitude | 0x7f800000, finite);
  return bits_float(u | (uint32_t)(x & 0x8000) << 16);
}
INLINE uint16_t to_f16(float x) {
  uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000, u = bits & 0x7fffffff;
  uint32_t normal = (u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13;
  uint32_t small = float_bits(bits_float(u) + 0.5f) - float_bits(0.5f);
  uint32_t large = pick(u > 0x7f800000, 0x7e00, 0x7c00);
  uint32_t h = pick(u < 0x38800000, small, pick(u >= 0x47800000, large, normal));
  return (uint16_t)(h | sign);
}
/* The same rounding without leaving float32: on the bits, or by the last place of 0.5. */
INLINE float round_f16(float x) {
  uint32_t bits = float_bits(x), u = bits & 0x7fffffff;
  uint32_t normal = (u + 0xfff + (u >> 13 & 1)) & ~0x1fffu;
  uint32_t small = float_bits((bits_float(u) + 0.5f) - 0.5f);
  uint32_t finite = pick(u < 0x38800000, small, pick(normal >= 0x47800000, 0x7f800000, normal));
  return bits_float(pick(u > 0x7f800000, u, finite) | (bits & 0x80000000));
}
INLINE float round_f16_to_zero(float x) {
  float y = round_f16(x);
  uint32_t u = float_bits(y);
  return __builtin_fabsf(y) > __builtin_fabsf(x) ? from_f16((uint16_t)(to_f16(y) - 1)) : bits_float(u);
}
/* float64 to float32 on the way to a narrower format: rounded to odd, so that the second rounding is the only one. */
INLINE float narrow_double(double x) {
  float y = (float)x;
  uint32_t u = float_bits(y);
  if (x != x || (double)y == x || (u & 0x7fffffff) == 0x7f800000) return y;
  u = __builtin_fabs((double)y) > __builtin_fabs(x) ? u - 1 : u;
  return bits_float(u | 1);
}

/* Toward zero; what does not fit becomes the nearest that does, and NaN 0, as a GPU's conversion gives. */
#define SIGNED(BITS, SUFFIX, FLOAT, LIMIT) \
  INLINE int##BITS##_t to_signed##BITS##SUFFIX(FLOAT x) { \
    return x != x ? 0 : x >= LIMIT ? INT##BITS##_MAX : x < -LIMIT ? INT##BITS##_MIN : (int##BITS##_t)x; }
#define UNSIGNED(BITS, SUFFIX, FLOAT, LIMIT) \
  INLINE uint##BITS##_t to_unsigned##BITS##SUFFIX(FLOAT x) { \
    return x != x || x <= 0 ? 0 : x >= LIMIT ? UINT##BITS##_MAX : (uint##BITS##_t)x; }
SIGNED(8, , float, 0x1p7f) SIGNED(16, , float, 0x1p15f) SIGNED(32, , float, 0x1p31f) SIGNED(64, , float, 0x1p63f)
SIGNED(8, _double, double, 0x1p7) SIGNED(16, _double, double, 0x1p15) SIGNED(32, _double, double, 0x1p31) SIGNED(64, _double, double, 0x1p63)
UNSIGNED(8, , float, 0x1p8f) UNSIGNED(16, , float, 0x1p16f) UNSIGNED(32, , float, 0x1p32f) UNSIGNED(64, , float, 0x1p64f)
UNSIGNED(8, _double, double, 0x1p8) UNSIGNED(16, _double, double, 0x1p16) UNSIGNED(32, _double, double, 0x1p32) UNSIGNED(64, _double, double, 0x1p64)

/* Division by zero gives 0 and the dividend as remainder, and the smallest number by -1 wraps. */
#define DIVISION(BITS) \
  INLINE int##BITS##_t divsi##BITS(int##BITS##_t a, int##BITS##_t b) { \
    return b == 0 ? 0 : b == -1 ? (int##BITS##_t)(0 - (uint##BITS##_t)a) : (int##BITS##_t)(a / b); } \
  INLINE int##BITS##_t remsi##BITS(int##BITS##_t a, int##BITS##_t b) { \
    return b == 0 ? a : b == -1 ? 0 : (int##BITS##_t)(a % b); } \
  INLINE int##BITS##_t floordivsi##BITS(int##BITS##_t a, int##BITS##_t b) { \
    int##BITS##_t q = divsi##BITS(a, b), r = remsi##BITS(a, b); return b != 0 && r != 0 && (r < 0) != (b < 0) ? q - 1 : q; } \
  INLINE int##BITS##_t ceildivsi##BITS(int##BITS##_t a, int##BITS##_t b) { \
    int##BITS##_t q = divsi##BITS(a, b), r = remsi##BITS(a, b); return b != 0 && r != 0 && (r < 0) == (b < 0) ? q + 1 : q; }
DIVISION(8) DIVISION(16) DIVISION(32) DIVISION(64)

/* maxnum, then minnum: NaN becomes the lower bound; the other kind keeps it. */
INLINE float clampf(float x, float low, float high) { float y = (x > low || low != low) ? x : low; return (y < high || high != high) ? y : high; }
INLINE double clamp(double x, double low, double high) { double y = (x > low || low != low) ? x : low; return (y < high || high != high) ? y : high; }
INLINE float clamp_nanf(float x, float low, float high) { return x != x ? x : clampf(x, low, high); }
INLINE double clamp_nan(double x, double low, double high) { return x != x ? x : clamp(x, low, high); }

/* Device memory lies at a constant distance from the bytes. */
#define AT(TYPE, ADDRESS) (*(TYPE *)(uintptr_t)((ADDRESS) + address_offset))
