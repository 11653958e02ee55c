// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "sentence.h"

namespace flagos::host {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Splits "512MiB" into 512 and "MiB"; nothing if there is no number in front or it does not fit.
std::optional<uint64_t> leading_number(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(end - text.data());
  return number;
}

std::optional<size_t> parse_size(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  size_t unit = 0;
  if (text.empty()) unit = 1;
  if (text == "KiB") unit = 1024;
  if (text == "MiB") unit = kMiB;
  if (text == "GiB") unit = kGiB;
  if (unit == 0 || *number > kLargestMemory / unit) return std::nullopt;
  return *number * unit;
}

flagos_status reject(const char* name, std::string_view value, const char* expected) {
  return fail(FLAGOS_ERROR_INVALID_ARGUMENT, "%s=%.*s: expected %s", name, static_cast<int>(value.size()), value.data(),
              expected);
}

flagos_status read_switch(const char* name, bool* out) {
  const auto text = variable(name);
  if (text.empty()) return FLAGOS_SUCCESS;
  if (text != "0" && text != "1") return reject(name, text, "0 or 1");
  *out = text == "1";
  return FLAGOS_SUCCESS;
}

}  // namespace

flagos_status read_settings(Settings* out) {
  Settings settings;
  if (auto text = variable("FLAGOS_HOST_DEVICES"); !text.empty()) {
    auto rest = text;
    const auto number = leading_number(rest);
    if (!number || !rest.empty() || *number < 1 || *number > kMostDevices)
      return reject("FLAGOS_HOST_DEVICES", text, "a number of devices from 1 to 64");
    settings.devices = static_cast<int32_t>(*number);
  }
  if (auto text = variable("FLAGOS_HOST_MEMORY"); !text.empty()) {
    const auto size = parse_size(text);
    if (!size || *size < kMiB)
      return reject("FLAGOS_HOST_MEMORY", text,
                    "the memory of one device from 1MiB to 256GiB, such as 512MiB, 2GiB or a plain number of bytes");
    settings.memory = *size & ~(static_cast<size_t>(sysconf(_SC_PAGESIZE)) - 1);
  }
  if (auto status = read_switch("FLAGOS_HOST_GUARD", &settings.guard)) return status;
  if (auto status = read_switch("FLAGOS_HOST_COPIES", &settings.copies)) return status;
  *out = settings;
  return FLAGOS_SUCCESS;
}

}  // namespace flagos::host
