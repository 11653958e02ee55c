// SPDX-License-Identifier: Apache-2.0
#include "sparse.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/copy_sparse_to_sparse_native.h>
#include <ATen/ops/empty_like_native.h>

#include <set>
#include <string>

#include "host_kernel.h"
#include "registration.h"

namespace torch_fl {
namespace {

using c10::DispatchKey;

// What crosses devices is made of dense operators; PyTorch's own code for it serves any device.
void register_crossing(torch::Library& coordinates, torch::Library& compressed) {
  coordinates.impl("copy_", TORCH_FN(at::native::copy_sparse_wrapper_));
  coordinates.impl("copy_sparse_to_sparse_", TORCH_FN(at::native::copy_sparse_));
  coordinates.impl("empty_like", TORCH_FN(at::native::empty_like_sparse_coo));
  compressed.impl("copy_", TORCH_FN(at::native::copy_sparse_compressed_));
  compressed.impl("empty_like", TORCH_FN(at::native::empty_like_sparse_csr));
}

void register_host_kernels(torch::Library& m, DispatchKey key, DispatchKey cpu) {
  static const std::set<std::string> pinning = {"_pin_memory", "is_pinned"};  // of CPU tensors
  for_each_aten_operator([&](const c10::OperatorHandle& op) {
    const std::string op_name = short_name(op.operator_name());
    if (!op.hasKernelForDispatchKey(cpu) || op.hasKernelForDispatchKey(key) || pinning.count(op_name)) return;
    m.impl(op_name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<HostKernel>(op)));
  });
}

void no_such_layout(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack*) {
  const bool nested = keys.has(DispatchKey::NestedTensorPrivateUse1);
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "flagos: ", op.schema().name(), " is not there for ",
      nested ? "nested tensors of the strided layout; make them with layout=torch.jagged, which flagos has"
             : "quantized tensors, which flagos does not have; quantize and compute on the CPU");
}

}  // namespace

void register_sparse() {
  auto& coordinates = registrations("aten", DispatchKey::SparsePrivateUse1);
  auto& compressed = registrations("aten", DispatchKey::SparseCsrPrivateUse1);
  register_crossing(coordinates, compressed);
  register_host_kernels(coordinates, DispatchKey::SparsePrivateUse1, DispatchKey::SparseCPU);
  register_host_kernels(compressed, DispatchKey::SparseCsrPrivateUse1, DispatchKey::SparseCsrCPU);
  registrations("_", DispatchKey::SparsePrivateUse1).fallback(torch::CppFunction::makeFromBoxedFunction<&host_fallback>());
  registrations("_", DispatchKey::SparseCsrPrivateUse1).fallback(torch::CppFunction::makeFromBoxedFunction<&host_fallback>());
  registrations("_", DispatchKey::NestedTensorPrivateUse1).fallback(torch::CppFunction::makeFromBoxedFunction<&no_such_layout>());
  registrations("_", DispatchKey::QuantizedPrivateUse1).fallback(torch::CppFunction::makeFromBoxedFunction<&no_such_layout>());
}

}  // namespace torch_fl
