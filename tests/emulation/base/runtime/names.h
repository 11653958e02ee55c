// SPDX-License-Identifier: Apache-2.0
// The emulated runtimes are one: their interfaces mirror CUDA's and differ in the first letters. The names are those that the
// platform's device layer uses (src/platforms/<id>/device/vendor.h); what its card is like says card.h.
#pragma once

#include "vendor.h"

#define RT(name) TORCH_FL_RUNTIME(name)
#define RT_TEXT_OF(name) #name
#define RT_TEXT(name) RT_TEXT_OF(name)
#define RT_NAME(name) RT_TEXT(TORCH_FL_RUNTIME(name))

namespace runtime {

namespace vendor = flagos::EMULATED_PLATFORM::vendor;
using Error = RT(Error_t);

}  // namespace runtime
