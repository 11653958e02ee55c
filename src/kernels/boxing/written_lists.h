// SPDX-License-Identifier: Apache-2.0
// written_lists.h: versions of the tensors in lists that a kernel writes. Autograd's layers count no writes to lists, and not
// every kernel of the target does; a tensor that was saved for backward and then written would pass for unchanged.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <string_view>
#include <utility>

namespace torch_fl::boxing {

// Of a schema ("_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()"): bit i is set where argument i is a written list.
constexpr unsigned written_lists(std::string_view schema) {
  unsigned found = 0;
  int depth = 0, argument = 0;
  for (size_t at = 0; at < schema.size() && !(depth == 0 && schema[at] == '>'); ++at) {
    depth += schema[at] == '(' ? 1 : schema[at] == ')' ? -1 : 0;
    if (schema[at] == ',' && depth == 1) ++argument;
    if (schema.substr(at, 4) == "!)[]") found |= 1u << argument;
  }
  return found;
}

class Written {
 public:
  Written() = default;
  template <class... Arguments>
  Written(unsigned lists, const Arguments&... arguments) {
    if (!lists) return;
    int index = 0;
    (note_if(lists >> index++ & 1, arguments), ...);
  }
  // Before the kernel runs. The list outlives this.
  void note(at::TensorList list) {
    if (!list.empty())
      lists_.emplace_back(list, counts(list.front()) ? list.front().unsafeGetTensorImpl()->version_counter().current_version() : 0);
  }
  // Once the kernel has run: counts for the lists that it has not counted itself.
  void count() const {
    for (const auto& [list, before] : lists_) {
      if (!counts(list.front()) || list.front().unsafeGetTensorImpl()->version_counter().current_version() != before) continue;
      for (const at::Tensor& tensor : list)
        if (counts(tensor)) tensor.unsafeGetTensorImpl()->bump_version();
    }
  }

 private:
  static bool counts(const at::Tensor& tensor) { return tensor.defined() && !tensor.is_inference(); }
  void note_if(bool written, at::TensorList list) {
    if (written) note(list);
  }
  template <class Other>
  void note_if(bool, const Other&) {}

  c10::SmallVector<std::pair<at::TensorList, uint32_t>, 5> lists_;
};

static_assert(written_lists("f_(Tensor(a!)[] self, Tensor[] other, Tensor(c!)[] sums, *, float lr) -> ()") == 0b101);

}  // namespace torch_fl::boxing
