// SPDX-License-Identifier: Apache-2.0
#include "autocast.h"

#include <ATen/autocast_mode.h>

#include "registration.h"

namespace torch_fl {
namespace {

// A sigmoid's fp16 result may be exactly 0 or 1, whose logarithm the loss then takes.
at::Tensor binary_cross_entropy_refused(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, int64_t) {
  TORCH_CHECK(false,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: use "
              "binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss, which take the values from before the "
              "sigmoid, or compute the loss in float32 under torch.autocast(..., enabled=False)");
}

// The macros of ATen/autocast_mode.h register on a library called m and name types as inside at::; which, differs between minors.
void register_policies(torch::Library& m) {
  using namespace at;
#define TORCH_FL_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
  AT_FORALL_LOWER_PRECISION_FP(TORCH_FL_LOWER_PRECISION)
#undef TORCH_FL_LOWER_PRECISION
#define TORCH_FL_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
  AT_FORALL_FP32(TORCH_FL_FP32)
#undef TORCH_FL_FP32
#define TORCH_FL_FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
  AT_FORALL_FP32_SET_OPT_DTYPE(TORCH_FL_FP32_SET_OPT_DTYPE)
#undef TORCH_FL_FP32_SET_OPT_DTYPE
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
#define TORCH_FL_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_PROMOTE(TORCH_FL_PROMOTE)
#undef TORCH_FL_PROMOTE
  m.impl("binary_cross_entropy", TORCH_FN(binary_cross_entropy_refused));
}

}  // namespace

void register_autocast() {
  register_policies(registrations("aten", c10::DispatchKey::AutocastPrivateUse1));
  registrations("_", c10::DispatchKey::AutocastPrivateUse1).fallback(torch::CppFunction::makeFallthrough());
}

}  // namespace torch_fl
