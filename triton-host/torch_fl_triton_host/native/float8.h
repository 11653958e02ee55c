/* 8-bit floating point: the formats of the OCP specification, and the FNUZ kinds, whose only NaN is 0x80. Too large becomes the
   largest finite number, as Triton's conversions on NVIDIA GPUs do. */
INLINE float decode8(uint8_t x, int mantissa, int bias, int nan_kind) {
  int exponent = (x & 0x7f) >> mantissa, fraction = x & ((1 << mantissa) - 1);
  float sign = x & 0x80 ? -1.0f : 1.0f, unit = bits_float((uint32_t)(127 + 1 - bias - mantissa) << 23);
  float value = exponent == 0 ? sign * fraction * unit
                              : sign * bits_float((uint32_t)(exponent - bias + 127) << 23 | (uint32_t)fraction << (23 - mantissa));
  if (nan_kind == 0) value = (x & 0x7c) == 0x7c ? ((x & 3) ? __builtin_nanf("") : sign * __builtin_inff()) : value;
  if (nan_kind == 1) value = (x & 0x7f) == 0x7f ? __builtin_nanf("") : value;
  if (nan_kind == 2) value = x == 0x80 ? __builtin_nanf("") : value;
  return value;
}
INLINE uint8_t encode8(float x, int mantissa, int bias, int nan_kind, float largest) {
  uint32_t bits = float_bits(x), sign = bits >> 24 & 0x80, u = bits & 0x7fffffff;
  uint8_t nan = nan_kind == 0 ? 0x7f : nan_kind == 1 ? 0x7f : 0x80;
  if (x != x) return nan;
  float magnitude = bits_float(u);
  if (magnitude > largest) { magnitude = largest; u = float_bits(magnitude); }
  int shift = 23 - mantissa;
  float smallest = bits_float((uint32_t)(127 + 1 - bias) << 23), anchor = bits_float((uint32_t)(127 + 1 - bias + shift) << 23);
  uint32_t code = magnitude < smallest ? float_bits(magnitude + anchor) - float_bits(anchor)
                                       : (u - ((uint32_t)(127 - bias) << 23) + ((1u << (shift - 1)) - 1) + (u >> shift & 1)) >> shift;
  if (nan_kind == 2 && code == 0) return 0;
  return (uint8_t)(code | sign);
}
#define FLOAT8(NAME, MANTISSA, BIAS, NAN_KIND, LARGEST) \
  INLINE float from_##NAME(uint8_t x) { return decode8(x, MANTISSA, BIAS, NAN_KIND); } \
  INLINE uint8_t to_##NAME(float x) { return encode8(x, MANTISSA, BIAS, NAN_KIND, LARGEST); } \
  INLINE float round_##NAME(float x) { return from_##NAME(to_##NAME(x)); }
FLOAT8(e5m2, 2, 15, 0, 57344.0f) FLOAT8(e4m3, 3, 7, 1, 448.0f) FLOAT8(e4m3b11, 3, 11, 2, 30.0f)
FLOAT8(e5m2fnuz, 2, 16, 2, 57344.0f) FLOAT8(e4m3fnuz, 3, 8, 2, 240.0f)
