// SPDX-License-Identifier: Apache-2.0
// routes.cpp: kernels that do nothing, and a loop that calls an operator from C++: what a route costs, without Python's part.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <flagos_kernels.h>
#include <torch/library.h>

#include <cstdio>
#include <ctime>

using at::Tensor;

static Tensor nothing(const Tensor& self) { return self; }

// The floor: PyTorch's dispatcher and a kernel, without torch-fl.
TORCH_LIBRARY(flagos_bench, m) { m.def("nothing(Tensor self) -> Tensor"); }
TORCH_LIBRARY_IMPL(flagos_bench, PrivateUse1, m) { m.impl("nothing", TORCH_FN(nothing)); }

FLAGOS_KERNELS("bench", table) {
  table.add<"abs", &nothing>();
  table.add<"neg", &nothing>({.may_decline = true});
  table.add<"sin", &nothing>();
  table.add<"cos", &nothing>();
}

// Time that this thread has spent on a processor, in nanoseconds: other programs do not count.
static double thread_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Nanoseconds of one call of `op` on eight floats on `device`, mean over `calls`; negative where it cannot be called, and
// `why` (of `room` bytes) says why. Below autograd, which is the same for every route.
extern "C" FLAGOS_VISIBLE double flagos_bench_nanoseconds(const char* op, const char* device, long calls, char* why,
                                                          unsigned long room) {
  try {
    const auto function =
        c10::Dispatcher::singleton().findSchemaOrThrow(op, "").typed<Tensor(const Tensor&)>();
    const Tensor x = at::ones({8}, at::TensorOptions().device(c10::Device(device)));
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const double began = thread_nanoseconds();
    for (long i = 0; i < calls; ++i) function.call(x);
    return (thread_nanoseconds() - began) / static_cast<double>(calls);
  } catch (const std::exception& error) {
    std::snprintf(why, room, "%s", error.what());
    return -1;
  }
}
