// SPDX-License-Identifier: Apache-2.0
// The free parts of a range of offsets: best fit, neighbours joined.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace flagos::host {

class Extents {
 public:
  explicit Extents(size_t size) { give(0, size); }

  // The offset of `bytes` that are free no longer; nothing if no free part is large enough.
  std::optional<size_t> take(size_t bytes);
  // Makes a part free again.  It must have come from `take`.
  void give(size_t offset, size_t bytes);

 private:
  void insert(size_t offset, size_t bytes);
  void erase(std::map<size_t, size_t>::iterator part);

  std::map<size_t, size_t> by_offset_;               // offset -> bytes
  std::set<std::pair<size_t, size_t>> by_size_;  // (bytes, offset): equal sizes are taken from the lowest address
};

}  // namespace flagos::host
