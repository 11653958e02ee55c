// SPDX-License-Identifier: Apache-2.0
// Convolution by products of matrices: a column holds what one place of the output sees.
#include "convolution.h"

#include "dense.h"
#include "gemm.h"
#include "parallel.h"

namespace musa::dnn::emulation {
namespace {

template <class T>
std::vector<T> operand(const Filter& filter, const View& view) {
  std::vector<T> values = dense<T>(view);
  if (filter.tf32 && view.type == Tensor::Type::FLOAT) to_tf32(values.data(), static_cast<int64_t>(values.size()));
  return values;
}

// visit(row of taps, place of the output, place in the input's group) for each pair that the padding does not hide.
template <class Visit>
void each_tap(const Filter& f, Visit&& visit) {
  const int64_t height = f.in.sizes[2], width = f.in.sizes[3];
  for (int64_t c = 0, tap = 0; c < f.channels(); ++c)
    for (int64_t kh = 0; kh < f.weight.sizes[2]; ++kh)
      for (int64_t kw = 0; kw < f.weight.sizes[3]; ++kw, ++tap)
        for (int64_t y = 0; y < f.out.sizes[2]; ++y) {
          const int64_t i = y * f.stride[0] - f.pad[0] + kh * f.dilation[0];
          if (i < 0 || i >= height) continue;
          for (int64_t x = 0; x < f.out.sizes[3]; ++x) {
            const int64_t j = x * f.stride[1] - f.pad[1] + kw * f.dilation[1];
            if (j >= 0 && j < width) visit(tap, y * f.out.sizes[3] + x, (c * height + i) * width + j);
          }
        }
}

template <class T>
void forward(const Filter& f, const View& bias, const View& add, bool relu) {
  const auto in = operand<T>(f, f.in), weight = operand<T>(f, f.weight), b = dense<T>(bias), a = dense<T>(add);
  std::vector<T> out(f.out.elements());
  const int64_t taps = f.taps(), places = f.places(), filters = f.filters(), plane = f.in.sizes[2] * f.in.sizes[3];
  parallel(f.in.sizes[0], 1, f.operations(), [&](int64_t first, int64_t last) {
    std::vector<T> columns(taps * places);
    for (int64_t n = first; n < last; ++n)
      for (int64_t g = 0; g < f.groups; ++g) {
        const T* source = in.data() + (n * f.groups + g) * f.channels() * plane;
        each_tap(f, [&](int64_t tap, int64_t place, int64_t at) { columns[tap * places + place] = source[at]; });
        gemm(filters, places, taps, weight.data() + g * filters * taps, columns.data(), out.data() + (n * f.groups + g) * filters * places);
      }
  });
  for (size_t i = 0; i < out.size(); ++i) {
    if (!b.empty()) out[i] += b[i / places % f.out.sizes[1]];
    if (!a.empty()) out[i] += a[i];
    if (relu && out[i] < 0) out[i] = 0;
  }
  write(f.out, out);
}

template <class T>
void backward_data(const Filter& f) {
  const auto grad_out = operand<T>(f, f.out), weight = operand<T>(f, f.weight);
  const int64_t taps = f.taps(), places = f.places(), filters = f.filters(), plane = f.in.sizes[2] * f.in.sizes[3];
  std::vector<T> grad_in(f.in.elements()), turned(weight.size());  // turned: (group, taps, filters)
  for (int64_t g = 0; g < f.groups; ++g)
    for (int64_t o = 0; o < filters; ++o)
      for (int64_t t = 0; t < taps; ++t) turned[(g * taps + t) * filters + o] = weight[(g * filters + o) * taps + t];
  parallel(f.in.sizes[0], 1, f.operations(), [&](int64_t first, int64_t last) {
    std::vector<T> columns(taps * places);
    for (int64_t n = first; n < last; ++n)
      for (int64_t g = 0; g < f.groups; ++g) {
        gemm(taps, places, filters, turned.data() + g * taps * filters, grad_out.data() + (n * f.groups + g) * filters * places, columns.data());
        T* target = grad_in.data() + (n * f.groups + g) * f.channels() * plane;
        each_tap(f, [&](int64_t tap, int64_t place, int64_t at) { target[at] += columns[tap * places + place]; });
      }
  });
  write(f.in, grad_in);
}

template <class T>
void backward_filter(const Filter& f) {
  const auto in = operand<T>(f, f.in), grad_out = operand<T>(f, f.out);
  const int64_t taps = f.taps(), places = f.places(), filters = f.filters(), plane = f.in.sizes[2] * f.in.sizes[3];
  std::vector<T> grad_weight(f.weight.elements()), rows(places * taps), part(filters * taps);
  for (int64_t n = 0; n < f.in.sizes[0]; ++n)
    for (int64_t g = 0; g < f.groups; ++g) {
      const T* source = in.data() + (n * f.groups + g) * f.channels() * plane;
      each_tap(f, [&](int64_t tap, int64_t place, int64_t at) { rows[place * taps + tap] = source[at]; });
      gemm(filters, taps, places, grad_out.data() + (n * f.groups + g) * filters * places, rows.data(), part.data());
      T* target = grad_weight.data() + g * filters * taps;
      for (size_t i = 0; i < part.size(); ++i) target[i] += part[i];
    }
  write(f.weight, grad_weight);
}

}  // namespace

void forward(const Filter& filter, const View& bias, const View& add, bool relu) {
  if (filter.in.type == Tensor::Type::DOUBLE) return forward<double>(filter, bias, add, relu);
  forward<float>(filter, bias, add, relu);
}
void backward_data(const Filter& filter) {
  if (filter.in.type == Tensor::Type::DOUBLE) return backward_data<double>(filter);
  backward_data<float>(filter);
}
void backward_filter(const Filter& filter) {
  if (filter.in.type == Tensor::Type::DOUBLE) return backward_filter<double>(filter);
  backward_filter<float>(filter);
}

}  // namespace musa::dnn::emulation
