/* The C library's functions, declared here since its header takes long to read. Where glibc's vector library has them (the six
   first ones since 2.22, the others since 2.35; within 4 units in the last place) loops call those. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GLIBC__ == 2 && __GLIBC_MINOR__ >= 22
#define VECTOR __attribute__((simd("notinbranch")))
#if __GLIBC_MINOR__ >= 35
#define VECTOR_2_35 VECTOR
#endif
#else
#define VECTOR
#endif
#ifndef VECTOR_2_35
#define VECTOR_2_35
#endif
#define ONE(ATTRIBUTE, NAME) ATTRIBUTE __attribute__((const)) double NAME(double); ATTRIBUTE __attribute__((const)) float NAME##f(float);
#define TWO(ATTRIBUTE, NAME) \
  ATTRIBUTE __attribute__((const)) double NAME(double, double); ATTRIBUTE __attribute__((const)) float NAME##f(float, float);
ONE(VECTOR, sin) ONE(VECTOR, cos) ONE(VECTOR, exp) ONE(VECTOR, log) TWO(VECTOR, pow)
ONE(VECTOR_2_35, acos) ONE(VECTOR_2_35, acosh) ONE(VECTOR_2_35, asin) ONE(VECTOR_2_35, asinh) ONE(VECTOR_2_35, atan)
ONE(VECTOR_2_35, atanh) ONE(VECTOR_2_35, cbrt) ONE(VECTOR_2_35, cosh) ONE(VECTOR_2_35, erf) ONE(VECTOR_2_35, erfc)
ONE(VECTOR_2_35, exp10) ONE(VECTOR_2_35, exp2) ONE(VECTOR_2_35, expm1) ONE(VECTOR_2_35, log10) ONE(VECTOR_2_35, log1p)
ONE(VECTOR_2_35, log2) ONE(VECTOR_2_35, sinh) ONE(VECTOR_2_35, tan) ONE(VECTOR_2_35, tanh) TWO(VECTOR_2_35, atan2)
TWO(VECTOR_2_35, hypot)
ONE(, lgamma) ONE(, tgamma) ONE(, logb) ONE(, round) TWO(, copysign) TWO(, fmod) TWO(, fdim) TWO(, nextafter) TWO(, remainder)
double ldexp(double, int);
float ldexpf(float, int);
#undef ONE
#undef TWO
