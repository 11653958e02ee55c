// SPDX-License-Identifier: Apache-2.0
// call.h: one call of a kernel of the target: fresh tensors of the target for the flagos ones it is given, and the way back for
// what it wrote and returned. The tensors of other threads and of the caller are never changed while the kernel runs.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/util/SmallVector.h>
#include <flagos_target.h>

#include <optional>
#include <vector>

#include "target.h"

namespace torch_fl::boxing {

// What a call needs to know of its operator.
struct Facts {
  const char* name;   // "aten::add", for messages; lives as long as the process
  bool writes_lists;  // a list of tensors is written
  bool host_beside;   // a card's kernel takes tensors of the CPU as well
};

class Call {
 public:
  explicit Call(const Facts& op) : op_(op) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The tensor of the target that shows `flagos`, the same one for the same tensor. The caller keeps both until the call is over.
  at::Tensor alias(const at::Tensor& flagos);
  // The same for an element of a list, which may be long.
  at::Tensor remember(const at::Tensor& flagos);

  // A defined tensor that is not flagos'. The target's kernel judges what is not its own either.
  void foreign(const at::Tensor& other, bool written);

  // Throws in PyTorch's words where the arguments lie on different devices.
  void require_one_device() const {
    if (__builtin_expect(other_.has_value(), 0)) complain();
  }

  bool writes_lists() const { return op_.writes_lists; }

  // Carries new sizes and memory of a written tensor back to the flagos one.
  void settle(const at::Tensor& flagos, const at::Tensor& target);

  at::Tensor result(at::Tensor target);
  std::vector<at::Tensor> result(std::vector<at::Tensor> targets);

  // The flagos tensor whose alias this is; null where it is nobody's.
  const at::Tensor* original(const at::Tensor& target) const;

 private:
  struct Seen {
    const at::Tensor* flagos;
    c10::TensorImpl* target;
  };

  [[noreturn]] void complain() const;
  at::Tensor shared_result(at::Tensor target);
  c10::Storage flagos_storage(const c10::Storage& target);

  const Facts& op_;
  c10::SmallVector<Seen, 6> seen_;
  c10::SmallVector<c10::Storage, 1> made_;  // flagos storages of results that share their memory
  std::optional<c10::Device> device_, other_;
};

std::optional<at::Generator> target_generator_of(const std::optional<at::Generator>& flagos);

inline c10::Device target_device_of(c10::Device device) {
  return device.type() == kFlagos ? as_target(started(device), kTarget) : device;
}

}  // namespace torch_fl::boxing
