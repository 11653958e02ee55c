// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <filesystem>
#include <map>

#include "composed.h"
#include "platform.h"

namespace torch_fl {
namespace {

constexpr const char* kOwnSlot = "host";
constexpr std::string_view kPrefix = "libtorch_fl_kernels_", kSuffix = ".so";

class Slot final : public KernelTable {
 public:
  void add(const char* op, SlotKernel kernel) override {
    TORCH_CHECK(kernels_.emplace(op, std::move(kernel)).second, "flagos: two kernels for ", op, " in one slot");
  }
  const std::map<std::string, SlotKernel>& kernels() const { return kernels_; }

 private:
  std::map<std::string, SlotKernel> kernels_;
};

std::map<std::string, Slot>& slots() {
  static auto* made = [] {
    auto* all = new std::map<std::string, Slot>();
    add_composed_kernels((*all)[kOwnSlot]);
    return all;
  }();
  return *made;
}

void load(const std::string& file, const std::string& slot) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string remedy = "; install torch-fl-vendor-kernels and torch-fl-runtime of one build, or remove the former";
  TORCH_CHECK(library, "flagos: the kernels of slot '", slot, "' cannot be loaded: ", dlerror(), remedy);
  auto entry = reinterpret_cast<const KernelLibrary* (*)()>(dlsym(library, FLAGOS_KERNELS_ENTRY));
  TORCH_CHECK(entry, "flagos: ", file, " does not export " FLAGOS_KERNELS_ENTRY "; it is not a kernel library");
  const KernelLibrary* found = entry();
  TORCH_CHECK(found && found->abi == FLAGOS_KERNELS_ABI, "flagos: ", file, " speaks kernel contract ", found ? found->abi : 0,
              " and libtorch_fl.so speaks ", FLAGOS_KERNELS_ABI, remedy);
  TORCH_CHECK(slot != kOwnSlot, "flagos: ", file, ": slot '", kOwnSlot, "' is the core's own; name the library after another");
  found->add_kernels(slots()[slot]);
}

}  // namespace

Decline::~Decline() = default;

void load_kernel_libraries(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> files;  // sorted, so that every process sees the same order
  auto look_into = [&files](const std::string& folder) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
      const std::string name = entry.path().filename().string();
      if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
      const std::string slot = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
      const auto [place, fresh] = files.emplace(slot, entry.path().string());
      TORCH_CHECK(fresh, "flagos: there are two kernel libraries of slot '", slot, "': ", place->second, " and ",
                  entry.path().string(), "; remove one");
    }
    TORCH_CHECK(!failed, "flagos: ", folder, " cannot be searched for kernel libraries: ", failed.message());
  };
  look_into(library_folder());
  for (const auto& folder : folders) look_into(folder);
  for (const auto& [slot, file] : files) load(file, slot);
}

const SlotKernel* find_kernel(const std::string& slot, const std::string& op) {
  const auto found = slots().find(slot);
  if (found == slots().end()) return nullptr;
  const auto kernel = found->second.kernels().find(op);
  return kernel == found->second.kernels().end() ? nullptr : &kernel->second;
}

std::vector<std::string> known_slots() {
  std::vector<std::string> names;
  for (const auto& [name, slot] : slots())
    if (name != kOwnSlot) names.push_back(name);
  names.push_back(kOwnSlot);
  return names;
}

std::vector<std::string> slot_operators(const std::string& slot) {
  std::vector<std::string> names;
  const auto found = slots().find(slot);
  if (found != slots().end())
    for (const auto& [op, kernel] : found->second.kernels()) names.push_back(op);
  return names;
}

}  // namespace torch_fl
