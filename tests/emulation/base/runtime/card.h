// SPDX-License-Identifier: Apache-2.0
// What an emulated card is like, which each SDK's emulation defines in its own card.cpp.
#pragma once

#include <string_view>

#include "names.h"

namespace runtime {

// The version of the runtime and the driver, as the vendor counts.
extern const int version_number;
// The quirks of base/runtime that this runtime has, with commas between them.
extern const char* const quirks;
// Errors that have numbers of the vendor's own beside CUDA's, up to one without a name. With the quirk `own_errors` the runtime
// gives these instead.
struct OwnError {
  Error common, own;
  const char *name, *text;
};
extern const OwnError own_errors[];
// Of the card that is the `physical` one of the machine and has so much memory.
vendor::Properties properties(int physical, size_t memory);
// An attribute of it, in the vendor's numbers; false where it is none.
bool read_attribute(const vendor::Properties& card, int attribute, int* value);

// Whether the runtime has this quirk, and nobody has switched it off.
bool odd(std::string_view quirk);

}  // namespace runtime
