// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "composed.h"
#include "platform.h"

namespace torch_fl {
namespace {

constexpr const char* kOwnSlot = "host";
constexpr std::string_view kPrefix = "libtorch_fl_", kSuffix = ".so", kPlatforms = "libtorch_fl_platform_";

class Slot final : public KernelTable {
 public:
  void add(const char* op, SlotKernel kernel) override {
    auto& kernels = kernel.rest ? fronts_ : kernels_;
    TORCH_CHECK(kernels.emplace(op, std::move(kernel)).second, "flagos: two kernels for ", op, " in one slot");
  }
  const std::map<std::string, SlotKernel>& kernels() const { return kernels_; }
  const std::map<std::string, SlotKernel>& fronts() const { return fronts_; }
  bool has_routes() const { return !kernels_.empty() || fronts_.empty(); }

 private:
  std::map<std::string, SlotKernel> kernels_, fronts_;
};

// Slot and file of what has been loaded; a start that failed may be tried again.
std::map<std::string, std::string>& files() {
  static auto* all = new std::map<std::string, std::string>();
  return *all;
}

bool has_loaded(const std::string& file) {
  return std::any_of(files().begin(), files().end(), [&](const auto& entry) { return entry.second == file; });
}

std::map<std::string, Slot>& slots() {
  static auto* made = [] {
    auto* all = new std::map<std::string, Slot>();
    add_composed_kernels((*all)[kOwnSlot]);
    return all;
  }();
  return *made;
}

void load(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string remedy = "; install its package and torch-fl-runtime of one build, or remove the former";
  TORCH_CHECK(library, "flagos: the kernel library ", file, " cannot be loaded: ", dlerror(), remedy);
  auto entry = reinterpret_cast<const KernelLibrary* (*)()>(dlsym(library, FLAGOS_KERNELS_ENTRY));
  TORCH_CHECK(entry, "flagos: ", file, " does not export " FLAGOS_KERNELS_ENTRY "; it is not a kernel library");
  const KernelLibrary* found = entry();
  TORCH_CHECK(found && found->abi == FLAGOS_KERNELS_ABI, "flagos: ", file, " speaks kernel contract ", found ? found->abi : 0,
              " and libtorch_fl.so speaks ", FLAGOS_KERNELS_ABI, remedy);
  const std::string slot = found->slot;
  TORCH_CHECK(slot != kOwnSlot, "flagos: ", file, ": slot '", kOwnSlot, "' is the core's own; choose another name");
  const auto [place, fresh] = files().emplace(slot, file);
  TORCH_CHECK(fresh, "flagos: there are two kernel libraries of slot '", slot, "': ", place->second, " and ", file, "; remove one");
  found->add_kernels(slots()[slot]);
}

}  // namespace

Decline::~Decline() = default;

void load_kernel_libraries(const std::vector<std::string>& folders, const std::vector<std::string>& others) {
  std::vector<std::string> found = others;
  auto look_into = [&found](const std::string& folder) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(kPrefix) && name.ends_with(kSuffix) && !name.starts_with(kPlatforms))
        found.push_back(entry.path().string());
    }
    TORCH_CHECK(!failed, "flagos: ", folder, " cannot be searched for kernel libraries: ", failed.message());
  };
  look_into(library_folder());
  for (const auto& folder : folders) look_into(folder);
  std::sort(found.begin(), found.end());  // every process sees the same order
  for (const auto& file : found)
    if (!has_loaded(file)) load(file);
}

const SlotKernel* find_kernel(const std::string& slot, const std::string& op) {
  const auto found = slots().find(slot);
  if (found == slots().end()) return nullptr;
  const auto kernel = found->second.kernels().find(op);
  return kernel == found->second.kernels().end() ? nullptr : &kernel->second;
}

std::pair<std::string, const SlotKernel*> find_front(const std::string& op) {
  std::pair<std::string, const SlotKernel*> found{"", nullptr};
  for (const auto& [name, slot] : slots()) {
    const auto front = slot.fronts().find(op);
    if (front == slot.fronts().end()) continue;
    TORCH_CHECK(!found.second, "flagos: slots '", found.first, "' and '", name, "' both want to stand in front of ", op,
                "; remove the package of one");
    found = {name, &front->second};
  }
  return found;
}

std::vector<std::string> known_slots() {
  std::vector<std::string> names;
  for (const auto& [name, slot] : slots())
    if (name != kOwnSlot && slot.has_routes()) names.push_back(name);
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
