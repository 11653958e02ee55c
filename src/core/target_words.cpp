// SPDX-License-Identifier: Apache-2.0
// target_words.cpp: what a kernel or allocator of the target says, in flagos' names.
#include <cctype>
#include <string>
#include <string_view>

#include "device.h"
#include "torch_device.h"

namespace torch_fl {
namespace {

bool part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/'; }

// "cuda:1", and "cuda" as a word; what only contains it ("cuda_", "CUDA error", "libcuda", a web address) stays.
bool is_device_name(std::string_view text, size_t begin, size_t end) {
  const bool starts = begin == 0 || !part_of_word(text[begin - 1]);
  const bool module = begin >= 6 && text.substr(begin - 6, 6) == "torch." && end < text.size() && text[end] == '.';
  const bool ends = end == text.size() || !part_of_word(text[end]) || text[end] == '.';
  return (starts && ends) || module;
}

void replace_all(std::string& text, const std::string& theirs, const std::string& ours) {
  for (size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + ours.size()))
    text.replace(at, theirs.size(), ours);
}

// PyTorch's allocator for CUDA calls a device by its number: "GPU 0 has".
void name_devices(std::string& text) {
  for (size_t at = text.find("GPU "); at != std::string::npos; at = text.find("GPU ", at + 1))
    if (at + 4 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 4]))) text.replace(at, 4, "flagos:");
}

template <class Kind>
void rethrow_as(const c10::Error& error, const std::string& text) {
  if (dynamic_cast<const Kind*>(&error)) throw Kind(text, error.backtrace(), error.caller());
}

std::string in_flagos_words(const std::string& text) {
  const c10::DeviceType type = torch_device()->type();
  const std::string theirs = c10::DeviceTypeName(type, /*lower_case=*/true), ours = c10::DeviceTypeName(kFlagos, true);
  std::string made;
  for (size_t at = 0; at < text.size();) {
    const size_t found = text.find(theirs, at), end = found + theirs.size();
    if (found == std::string::npos) {
      made += text.substr(at);
      break;
    }
    made.append(text, at, found - at).append(is_device_name(text, found, end) ? ours : theirs);
    at = end;
  }
  const std::string exhausted = " out of memory";
  if (made.find(exhausted) != std::string::npos) {
    replace_all(made, c10::DeviceTypeName(type, /*lower_case=*/false) + exhausted, ours + exhausted);
    name_devices(made);
  }
  return made;
}

}  // namespace

void rethrow_in_flagos_words() {
  if (torch_device()->type() == c10::DeviceType::CPU) throw;  // "cpu" in a message means the host
  try {
    throw;
  } catch (const c10::Error& error) {
    if (in_bad_fork()) ensure_initialized();  // says what to do
    const std::string text = in_flagos_words(error.msg());
    if (text == error.msg()) throw;
    rethrow_as<c10::OutOfMemoryError>(error, text);
    rethrow_as<c10::IndexError>(error, text);
    rethrow_as<c10::ValueError>(error, text);
    rethrow_as<c10::TypeError>(error, text);
    rethrow_as<c10::NotImplementedError>(error, text);
    if (typeid(error) == typeid(c10::Error)) throw c10::Error(text, error.backtrace(), error.caller());
    throw;
  }
}

}  // namespace torch_fl
