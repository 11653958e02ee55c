// SPDX-License-Identifier: Apache-2.0
// structured.h: PyTorch's structured operators, whose shapes, types, broadcasting and errors come from PyTorch's own `meta`.
//
// `at::meta::structured_<name>` asks its subclass for the outputs. One template answers for the three variants of an
// operator (torchgen writes three classes for each kernel of PyTorch's own devices).
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

#include <array>
#include <optional>
#include <type_traits>
#include <utility>

// A PyTorch that still has named tensors hands the names on; they are not kept here, as on any device of its own.
#if __has_include(<ATen/NamedTensorUtils.h>)
#define FLAGOS_NAMES_PARAMETER , at::DimnameList
#define FLAGOS_NAMES , {}
#else
#define FLAGOS_NAMES_PARAMETER
#define FLAGOS_NAMES
#endif

namespace torch_fl::mudnn {

enum class Variant { functional, inplace, out };

template <class Meta, size_t count = 1>
class Structured final : public Meta {
 public:
  Structured() : variant_(Variant::functional) {}
  template <class... Given>
  explicit Structured(Variant variant, const Given&... given) : variant_(variant), outputs_{given...} {}

  using Meta::maybe_get_output;
  const at::Tensor& maybe_get_output(int64_t index) override {
    return proxies_[index].defined() ? proxies_[index] : outputs_[index];
  }

  void set_output_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options FLAGOS_NAMES_PARAMETER) override {
    provide(i, sizes, strides, options, true);
  }
  void set_output_raw_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options FLAGOS_NAMES_PARAMETER) override {
    provide(i, sizes, strides, options, false);
  }

  // The results; writes what had to be computed in other strides into the tensors that the caller gave.
  const at::Tensor& finish(size_t i = 0) {
    if (proxies_[i].defined()) outputs_[i].copy_(proxies_[i]);
    return outputs_[i];
  }

 private:
  void provide(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options, bool exact) {
    at::Tensor& output = outputs_[i];
    if (variant_ == Variant::functional) {
      output = make(sizes, strides, options);
    } else {
      if (variant_ == Variant::inplace) {
        require(output, options, "the tensor of an in-place call");
        TORCH_CHECK(output.sizes() == sizes, "Bad in-place call: input tensor size ", output.sizes(),
                    " and output tensor size ", sizes, " should match");
      } else {
        require(output, options, "out tensor");
        if (at::native::resize_output(output, sizes)) restride(output, sizes, strides, options);
      }
      if (exact && !strides.empty() && output.strides() != strides) proxies_[i] = make(sizes, strides, options);
    }
    // After the output exists: the iterator takes it from maybe_get_output.
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>) 
      Meta::set_output_raw_strided(i, sizes, strides, options FLAGOS_NAMES);
  }

  static at::Tensor make(at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) {
    return strides.empty() ? at::empty(sizes, options) : at::empty_strided(sizes, strides, options);
  }

  static void require(const at::Tensor& output, const at::TensorOptions& options, const char* what) {
    TORCH_CHECK(options.dtype() == output.dtype(), "Expected ", what, " to have dtype ", options.dtype(), ", but got ",
                output.dtype(), " instead");
    TORCH_CHECK(options.device() == output.device(), "Expected ", what, " to have device ", options.device(), ", but got ",
                output.device(), " instead");
  }

  static void restride(const at::Tensor& output, at::IntArrayRef sizes, at::IntArrayRef strides,
                       const at::TensorOptions& options) {
    if (!strides.empty()) {
      output.as_strided_(sizes, strides);
    } else if (const auto format = options.memory_format_opt()) {
      output.unsafeGetTensorImpl()->empty_tensor_restride(*format);
    }
  }

  Variant variant_;
  std::array<at::Tensor, count> outputs_;
  std::array<at::Tensor, count> proxies_;
};

}  // namespace torch_fl::mudnn
