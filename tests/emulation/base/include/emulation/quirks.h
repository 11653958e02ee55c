// SPDX-License-Identifier: Apache-2.0
// quirks.h: where an emulated SDK behaves as oddly as the real one, so that the workaround for it is tested.
//
// All are on. FLAGOS_EMULATION_QUIRKS_OFF=name,name switches some off and =all switches all off: a test proves with it that a
// workaround matters. The README of each emulated SDK lists its names.
#pragma once

#include <cstdlib>
#include <string_view>

namespace emulation {

// Reads the environment on each call: keep the answer where it is asked for often.
inline bool quirk(std::string_view name) {
  const char* variable = std::getenv("FLAGOS_EMULATION_QUIRKS_OFF");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    const auto word = rest.substr(0, rest.find(','));
    if (word == name || word == "all") return false;
    rest.remove_prefix(word.size() == rest.size() ? rest.size() : word.size() + 1);
  }
  return true;
}

}  // namespace emulation
