// SPDX-License-Identifier: Apache-2.0
#include "extents.h"

#include <iterator>

namespace flagos::host {

void Extents::insert(size_t offset, size_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void Extents::erase(std::map<size_t, size_t>::iterator part) {
  by_size_.erase({part->second, part->first});
  by_offset_.erase(part);
}

std::optional<size_t> Extents::take(size_t bytes) {
  const auto fit = by_size_.lower_bound({bytes, 0});
  if (fit == by_size_.end()) return std::nullopt;
  const auto [size, offset] = *fit;
  erase(by_offset_.find(offset));
  if (size > bytes) insert(offset + bytes, size - bytes);
  return offset;
}

void Extents::give(size_t offset, size_t bytes) {
  auto after = by_offset_.lower_bound(offset);
  if (after != by_offset_.begin()) {
    if (const auto before = std::prev(after); before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      erase(before);
    }
  }
  if (after != by_offset_.end() && offset + bytes == after->first) {
    bytes += after->second;
    erase(after);
  }
  insert(offset, bytes);
}

}  // namespace flagos::host
