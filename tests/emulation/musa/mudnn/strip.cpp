// SPDX-License-Identifier: Apache-2.0
// All conversions of strips are compiled here, once.
#include "strip.h"

namespace musa::dnn::emulation {

template <class Compute>
void load(Compute* to, Tensor::Type type, const char* from, int64_t stride, int64_t count) {
  with_element(type, [&](auto tag) {
    using Element = decltype(tag);
    const Element* source = reinterpret_cast<const Element*>(from);
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) to[i] = convert<Compute>(source[i]);
    } else if (stride == 0) {
      std::fill_n(to, count, convert<Compute>(*source));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = convert<Compute>(source[i * stride]);
    }
  });
}

template <class Compute>
void store(Tensor::Type type, char* to, int64_t stride, const Compute* from, int64_t count) {
  with_element(type, [&](auto tag) {
    using Element = decltype(tag);
    Element* target = reinterpret_cast<Element*>(to);
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) target[i] = convert<Element>(from[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) target[i * stride] = convert<Element>(from[i]);
    }
  });
}

#define EMULATION_STRIPS(Compute)                                                  \
  template void load<Compute>(Compute*, Tensor::Type, const char*, int64_t, int64_t); \
  template void store<Compute>(Tensor::Type, char*, int64_t, const Compute*, int64_t);
EMULATION_STRIPS(float)
EMULATION_STRIPS(double)
EMULATION_STRIPS(int64_t)
EMULATION_STRIPS(uint64_t)
EMULATION_STRIPS(uint8_t)

}  // namespace musa::dnn::emulation
