// SPDX-License-Identifier: Apache-2.0
// pinned.h: page-locked host memory, cached, and held while a stream reads or writes it.
#pragma once

#include <c10/core/Allocator.h>

#include <map>
#include <string>

#include "stream.h"

namespace torch_fl {

c10::Allocator* pinned_allocator();
bool is_pinned(const void* address);

// Keeps the block behind `data` out of the cache until `stream` has passed this point. False for other memory.
bool hold_pinned(const c10::DataPtr& data, c10::Stream stream);

TORCH_FL_API std::map<std::string, int64_t> pinned_stats();  // counts and bytes
TORCH_FL_API void empty_pinned_cache();

}  // namespace torch_fl
