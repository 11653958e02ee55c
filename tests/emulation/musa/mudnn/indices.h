// SPDX-License-Identifier: Apache-2.0
// Index operands: INT64 or INT32, from 0 to below the size of the dimension that they are for.
#pragma once

#include <stdexcept>
#include <string>

#include "run.h"

namespace musa::dnn::emulation {

inline void require_index(const View& index) {
  require(index.type == Tensor::Type::INT64 || index.type == Tensor::Type::INT32, "the index is INT64 or INT32", Status::NOT_SUPPORTED);
}

// In queued work: what is thrown fails the stream.
inline int64_t checked(int64_t index, int64_t size, const char* name) {
  if (index < 0 || index >= size)
    throw std::out_of_range(std::string(name) + ": index " + std::to_string(index) + " is out of range for a dimension of size " +
                            std::to_string(size));
  return index;
}

}  // namespace musa::dnn::emulation
