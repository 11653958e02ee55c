// SPDX-License-Identifier: Apache-2.0
// names.h: strings of records, which live on, and the numbers of functions (a number for each name, in the order of first use).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace mupti {

struct Names {
  std::mutex mutex;
  std::map<std::string, uint32_t, std::less<>> numbers;
  std::vector<const char*> texts;

  static Names& instance() {
    static auto* names = new Names();
    return *names;
  }
};

inline uint32_t number_of(const std::string& name) {
  auto& names = Names::instance();
  std::lock_guard lock(names.mutex);
  const auto [place, fresh] = names.numbers.emplace(name, names.texts.size() + 1);
  if (fresh) names.texts.push_back(place->first.c_str());
  return place->second;
}

// Null when there is none.
inline const char* name_of(uint32_t number) {
  auto& names = Names::instance();
  std::lock_guard lock(names.mutex);
  return number - 1 < names.texts.size() ? names.texts[number - 1] : nullptr;
}

inline const char* kept(const std::string& text) { return name_of(number_of(text)); }

// The symbol that a compiler makes of a kernel's qualified name ("a::b::c" -> _ZN1a1b1cEv, Itanium C++ ABI 5.1, nested names);
// a name without "::" stays, as that of a C function or of a Triton kernel.
inline std::string mangled(const std::string& name) {
  if (name.find("::") == std::string::npos) return name;
  std::string symbol = "_ZN";
  for (size_t start = 0; start < name.size();) {
    const size_t end = std::min(name.find("::", start), name.size());
    symbol += std::to_string(end - start) + name.substr(start, end - start);
    start = end + 2;
  }
  return symbol + "Ev";
}

}  // namespace mupti
