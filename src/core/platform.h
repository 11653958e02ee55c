// SPDX-License-Identifier: Apache-2.0
// platform.h: the loaded platform library, behind the C contract of flagos_platform.h.
#pragma once

#include <flagos_platform.h>

#include <string>

#include "macros.h"

namespace torch_fl {

// Opens libtorch_fl_platform_<id>.so beside this library and checks that both sides fit.
// Throws with the sentence to show; the same sentence is thrown by later device use.
TORCH_FL_API void load_platform(const std::string& id);

// The contract table; slots that the platform does not have are null. Throws when no platform was loaded.
const flagos_platform& platform();
bool platform_loaded() noexcept;
bool platform_has(uint32_t capability) noexcept;
void* platform_symbol(const char* name) noexcept;  // what else the platform's library exports; null: nothing of that name

// Throws what the platform says about `status`; `doing` completes "flagos: could not ...".
void check(flagos_status status, const char* doing);

// The folder of libtorch_fl.so, where platforms and kernel libraries lie.
std::string library_folder();

// The version of the contract, as "major.minor".
TORCH_FL_API std::string platform_abi();

}  // namespace torch_fl
