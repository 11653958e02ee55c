// SPDX-License-Identifier: Apache-2.0
// arguments.h: how each C++ type of an operator's argument is given to the target's kernel. A Passed lives for one call;
// `get` is what the kernel takes, `settle` carries back what it wrote.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>

#include "call.h"

namespace torch_fl::boxing {

template <class T>
struct Passed {  // numbers, sizes, names
  Passed(Call&, T given) : given_(given) {}
  T get() { return given_; }
  void settle(Call&) {}

 private:
  T given_;
};

template <>
struct Passed<const at::Tensor&> {
  Passed(Call& call, const at::Tensor& given) : given_(given) {
    if (is_flagos(given)) {
      alias_ = call.alias(given);
    } else if (given.defined()) {
      call.foreign(given, /*written=*/false);
    }
  }
  const at::Tensor& get() { return alias_.defined() ? alias_ : given_; }
  void settle(Call&) {}

 private:
  const at::Tensor& given_;
  at::Tensor alias_;
};

template <>
struct Passed<at::Tensor&> {
  Passed(Call& call, at::Tensor& given) : given_(given) {
    if (is_flagos(given)) {
      alias_ = call.alias(given);
    } else if (given.defined()) {
      call.foreign(given, /*written=*/true);
    }
  }
  at::Tensor& get() { return alias_.defined() ? alias_ : given_; }
  void settle(Call& call) {
    if (alias_.defined()) call.settle(given_, alias_);
  }

 private:
  at::Tensor& given_;
  at::Tensor alias_;
};

template <>
struct Passed<const std::optional<at::Tensor>&> {
  Passed(Call& call, const std::optional<at::Tensor>& given) : given_(given) {
    if (!given || !given->defined()) return;
    if (is_flagos(*given)) {
      alias_ = call.alias(*given);
    } else {
      call.foreign(*given, /*written=*/false);
    }
  }
  const std::optional<at::Tensor>& get() { return alias_ ? alias_ : given_; }
  void settle(Call&) {}

 private:
  const std::optional<at::Tensor>& given_;
  std::optional<at::Tensor> alias_;
};

// Both kinds of lists: one alias for each tensor, and one array of them.
template <class List>
struct PassedList {
  PassedList(Call& call, List given) : given_(given) {
    aliases_.reserve(given.size());
    for (const at::Tensor& tensor : given) {
      const bool ours = is_flagos(tensor);
      if (!ours && tensor.defined()) call.foreign(tensor, call.writes_lists());
      aliases_.push_back(ours ? call.remember(tensor) : tensor);
    }
  }
  at::TensorList get() { return aliases_; }
  void settle(Call& call) {
    if (call.writes_lists()) {
      auto alias = aliases_.begin();
      for (const at::Tensor& tensor : given_) {
        if (is_flagos(tensor)) call.settle(tensor, *alias);
        ++alias;
      }
    }
  }

 private:
  List given_;
  std::vector<at::Tensor> aliases_;
};

template <>
struct Passed<at::TensorList> : PassedList<at::TensorList> {
  using PassedList::PassedList;
};
template <>
struct Passed<const at::ITensorListRef&> : PassedList<const at::ITensorListRef&> {
  using PassedList::PassedList;
};

// Indices, which a card's kernels take from the host too.
template <>
struct Passed<const c10::List<std::optional<at::Tensor>>&> {
  using List = c10::List<std::optional<at::Tensor>>;
  Passed(Call& call, const List& given) {
    given_.reserve(given.size());
    aliases_.reserve(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      const std::optional<at::Tensor>& tensor = given_.emplace_back(given.get(i));
      aliases_.push_back(tensor && is_flagos(*tensor) ? call.alias(*tensor) : tensor);
    }
  }
  const List& get() { return aliases_; }
  void settle(Call&) {}

 private:
  std::vector<std::optional<at::Tensor>> given_;
  List aliases_;
};

template <>
struct Passed<std::optional<at::Generator>> {
  Passed(Call&, const std::optional<at::Generator>& given) : target_(target_generator_of(given)) {}
  const std::optional<at::Generator>& get() { return target_; }
  void settle(Call&) {}

 private:
  std::optional<at::Generator> target_;
};

template <>
struct Passed<c10::Device> {
  Passed(Call&, c10::Device given) : target_(target_device_of(given)) {}
  c10::Device get() { return target_; }
  void settle(Call&) {}

 private:
  c10::Device target_;
};

template <>
struct Passed<std::optional<c10::Device>> {
  Passed(Call&, std::optional<c10::Device> given) : target_(given ? std::optional(target_device_of(*given)) : std::nullopt) {}
  std::optional<c10::Device> get() { return target_; }
  void settle(Call&) {}

 private:
  std::optional<c10::Device> target_;
};

}  // namespace torch_fl::boxing
