// SPDX-License-Identifier: Apache-2.0
// descriptor.h: device tensors in mudnn's terms. Strides go through as they are, 0 included: nothing is copied.
#pragma once

#include "session.h"

namespace torch_fl::mudnn {

// Throws Decline for what mudnn has no type for: complex, quantized, uint16, uint32 and the rest.
dnn::Tensor::Type type_of(at::ScalarType dtype);

// Sizes and strides in elements. Rank 0 becomes one element, since mudnn rejects it.
dnn::Tensor describe(const void* data, at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides);

// Throws Decline for lazy conjugation or negation and for tensors that are not on a device.
dnn::Tensor describe(const at::Tensor& tensor);

// Whether a whole tensor repeats a single element, which some of mudnn's reductions get wrong.
bool repeats_one_element(const at::Tensor& tensor);

// Copies within a device, converting the type: one pass whatever the strides are. Sizes are equal.
void copy_into(Session& session, dnn::Tensor& to, const dnn::Tensor& from, bool same_dtype);

// The tensor itself, or a dense copy of the type on the current stream.
at::Tensor as_dtype(Session& session, const at::Tensor& tensor, at::ScalarType dtype);

// A dense copy, always.
at::Tensor materialized(Session& session, const at::Tensor& tensor);

}  // namespace torch_fl::mudnn
