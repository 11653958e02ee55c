// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <set>

#include "boxed.h"
#include "eligible.h"
#include "operator_plan.h"
#include "target.h"
#include "typed.h"

namespace torch_fl::boxing {
namespace {

// The first kernel for an operator stays: written by hand, then typed, then boxed.
class FirstKernels final : public KernelTable {
 public:
  explicit FirstKernels(KernelTable& table) : table_(table) {}
  void add(const char* op, SlotKernel kernel) override {
    if (known_.insert(op).second) table_.add(op, std::move(kernel));
  }
  bool has(const std::string& op) const { return known_.count(op) > 0; }

 private:
  KernelTable& table_;
  std::set<std::string> known_;
};

void add_by_schema(FirstKernels& table) {
  for_each_aten_operator([&](const c10::OperatorHandle& op) {
    if (!table.has(short_name(op.operator_name())) && is_boxed(op)) add_boxed(table, op);
  });
}

}  // namespace

void add_kernel(KernelTable& table, const char* name, const char* overload, SlotKernel kernel) {
  const c10::OperatorName full(name, overload);
  const auto op = c10::Dispatcher::singleton().findOp(full);  // a header may declare what this build of PyTorch lacks
  if (op && is_boxed(*op)) table.add(short_name(full).c_str(), std::move(kernel));
}

}  // namespace torch_fl::boxing

FLAGOS_KERNELS(TORCH_FL_BOXING_SLOT, table) {
  using namespace torch_fl::boxing;
  FirstKernels first(table);
  add_attention(first);
  if constexpr (kTarget != c10::DeviceType::CPU) add_flash_attention(first);
  add_typed(first);
  add_by_schema(first);
}
