// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <ATen/Context.h>
#include <c10/core/Allocator.h>
#include <flagos_runtime.h>

#include <memory>
#include <vector>

namespace torch_fl::mudnn {
namespace {

// Never destroyed: the library may be gone when a thread's or the process' last destructors run.
dnn::Handle& thread_handle(c10::DeviceIndex device) {
  static thread_local auto* handles = new std::vector<dnn::Handle*>();
  const auto index = static_cast<size_t>(device);
  if (handles->size() <= index) handles->resize(index + 1);
  auto& handle = (*handles)[index];
  if (!handle) handle = new dnn::Handle(device);
  return *handle;
}

const char* name(dnn::Status status) {
  switch (status) {
    case dnn::Status::SUCCESS: return "SUCCESS";
    case dnn::Status::INVALID_PARAMETER: return "INVALID_PARAMETER";
    case dnn::Status::NOT_INITIALIZED: return "NOT_INITIALIZED";
    case dnn::Status::ALLOC_FAILED: return "ALLOC_FAILED";
    case dnn::Status::NOT_SUPPORTED: return "NOT_SUPPORTED";
    case dnn::Status::INTERNAL_ERROR: return "INTERNAL_ERROR";
    case dnn::Status::ARCH_MISMATCH: return "ARCH_MISMATCH";
    case dnn::Status::EXECUTION_FAILED: return "EXECUTION_FAILED";
  }
  return "an unknown status";
}

}  // namespace

Session::Session(c10::Device device)
    : guard_(device),
      device_(guard_.current_device()),
      stream_(reinterpret_cast<musaStream_t>(current_native_stream(device_.index()))),
      handle_(&thread_handle(device_.index())) {
  check(handle_->SetStream(stream_), "Handle::SetStream");
}

void Session::follow_tf32(bool convolution) {
  // Not allowTF32CuBLAS(), which throws where a program has used fp32_precision.
  auto allowed = [](at::Float32Op op) {
    return at::globalContext().float32Precision(at::Float32Backend::CUDA, op) == at::Float32Precision::TF32;
  };
  check(handle_->SetAllowTF32(allowed(at::Float32Op::MATMUL) && (!convolution || allowed(at::Float32Op::CONV))),
        "Handle::SetAllowTF32");
}

dnn::MemoryMaintainer workspace() {
  return [](size_t bytes) {
    auto memory = std::make_shared<c10::DataPtr>(c10::GetAllocator(c10::DeviceType::PrivateUse1)->allocate(bytes));
    return dnn::MemoryHandler(memory->get(), [memory](void*) { memory->clear(); });
  };
}

void check(dnn::Status status, const char* call) {
  if (C10_LIKELY(status == dnn::Status::SUCCESS)) return;
  if (status == dnn::Status::NOT_SUPPORTED) throw Decline(std::string("mudnn's ") + call + " does not support the call");
  TORCH_CHECK(false, "flagos: mudnn's ", call, " failed with ", name(status),
              "; FLAGOS_OP_<operator>=none sends the operator to the CPU");
}

}  // namespace torch_fl::mudnn
