// SPDX-License-Identifier: Apache-2.0
// flagos_kernels.h: the contract between the core and a library of kernels.
//
// A kernel library is a shared object libtorch_fl_<name>.so beside libtorch_fl.so. It is C++, since kernels take at::Tensor,
// and so belongs to one build of PyTorch. The core calls what it exports once, at start-up, before any device is used:
//
//   FLAGOS_KERNELS("musa", table) {
//     table.add<"mm", &mm>();
//     table.add<"add.Tensor", &add>({.may_decline = true});
//   }
//
// A kernel has the C++ signature of its operator. The routing table chooses among slots; a chosen kernel is registered
// with PyTorch directly, so that nothing stands between the dispatcher and it but the counter below.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/CppSignature.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/infer_schema.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#define FLAGOS_KERNELS_ABI 1
#define FLAGOS_KERNELS_ENTRY "flagos_kernels_entry"
#define FLAGOS_VISIBLE __attribute__((visibility("default")))

namespace torch_fl {

// One line of the routing table, and how often its kernel was called.
struct Route {
  std::string op;       // "add.Tensor"
  std::string backend;  // a slot, or "cpu"
  std::string origin;   // who decided: "default", "backends_host.conf:12", "FLAGOS_OP_mm"
  std::atomic<uint64_t> calls{0};
};

namespace log_switch {
extern FLAGOS_VISIBLE std::atomic<bool> any;
}
FLAGOS_VISIBLE void log_served(const Route& route);

// Counts a call, and says it where a log is on. A few nanoseconds otherwise.
inline void served(Route* route) {
  route->calls.fetch_add(1, std::memory_order_relaxed);
  if (__builtin_expect(log_switch::any.load(std::memory_order_relaxed), 0)) log_served(*route);
}

// Thrown by a kernel that cannot serve this call, before it has written anything: the next step of the chain serves it.
class FLAGOS_VISIBLE Decline final : public std::exception {
 public:
  explicit Decline(std::string reason) : reason_(std::move(reason)) {}
  ~Decline() override;
  const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

struct KernelTraits {
  bool may_decline = false;     // throws Decline, or calls its own operator
  bool differentiable = false;  // records its own gradient: it may serve a composite operator that needs one
  bool by_request = false;      // serves only where a routing file or variable names its slot
  void (*chosen)() = nullptr;  // called once, when the routing table gives the operator to this kernel
};

// The route of an operator that has a kernel in front of it; the function is not valid where nothing serves the operator here.
struct Rest {
  std::optional<c10::OperatorHandle> op;
  c10::KernelFunction function;
};

struct SlotKernel {
  c10::KernelFunction function;
  std::optional<c10::impl::CppSignature> signature;  // of a typed function: PyTorch compares it with the other kernels'
  KernelTraits traits;
  Route** route;  // where the kernel finds its counter
  Rest* rest = nullptr;  // of a kernel in front of the route: where it passes calls on to
};

// All tensors of a call lie on one device of ours. Only a tensor without dimensions may be the CPU's, to be read: what calls
// with a generator of ours and a tensor of the CPU's lead to would else be found by a kernel that cannot reach it.
class CommonDevice {
 public:
  template <class T>
  void see(const T&) {}
  void see(at::Tensor& written) { see_one(written, true); }
  void see(const at::Tensor& read) { see_one(read, false); }
  void see(const std::optional<at::Tensor>& read) {
    if (read) see_one(*read, false);
  }
  void see(const at::ArrayRef<at::Tensor>& read) {
    for (const at::Tensor& tensor : read) see_one(tensor, false);
  }
  void see(const at::ITensorListRef& read) {
    for (const at::Tensor& tensor : read) see_one(tensor, false);
  }

  // Throws in PyTorch's words.
  void require() const {
    if (__builtin_expect(!other_, 1)) return;
    TORCH_CHECK(!ours_ && !written_, "Expected all tensors to be on the same device, but found at least two devices, ",
                ours_ ? ours_->str() : "flagos", " and ", other_->str(), "!");
  }

 private:
  void see_one(const at::Tensor& tensor, bool written) {
    if (!tensor.defined()) return;
    const c10::Device device = tensor.device();
    if (__builtin_expect(device.type() == c10::DeviceType::PrivateUse1, 1)) {
      if (!ours_) ours_ = device;
      if (__builtin_expect(device != *ours_, 0)) other_ = device;
    } else if (written || tensor.dim() > 0) {
      other_ = device;
      written_ |= written;
    }
  }

  std::optional<c10::Device> ours_, other_;
  bool written_ = false;
};

template <size_t size>
struct OperatorName {
  char text[size];
  consteval OperatorName(const char (&literal)[size]) { std::copy_n(literal, size, text); }  // NOLINT: implicit on purpose
};

template <OperatorName name, auto* function, class Signature = std::remove_pointer_t<decltype(function)>>
struct CountedKernel;

template <OperatorName name, auto* function, class Result, class... Arguments>
struct CountedKernel<name, function, Result(Arguments...)> {
  static inline Route* route = nullptr;
  static Result call(Arguments... arguments) {
    served(route);
    CommonDevice device;
    (device.see(arguments), ...);
    device.require();
    return function(std::forward<Arguments>(arguments)...);
  }
};

// A kernel for a kind of call that other kernels do not know, whatever the route of its operator is: it gets every call, and
// passes on what `Takes` does not want, at the price of that question. Routing files do not name it.
template <OperatorName name, class Takes, auto* function, class Signature = std::remove_pointer_t<decltype(function)>>
struct FrontKernel;

template <OperatorName name, class Takes, auto* function, class Result, class... Arguments>
struct FrontKernel<name, Takes, function, Result(Arguments...)> {
  using Counted = CountedKernel<name, function>;
  static inline Rest rest;
  static Result call(c10::DispatchKeySet keys, Arguments... arguments) {
    if (__builtin_expect(Takes()(arguments...), 0)) return Counted::call(std::forward<Arguments>(arguments)...);
    TORCH_CHECK_NOT_IMPLEMENTED(rest.function.isValid(), "flagos: aten::", name.text, " has no kernel here for these data types");
    return rest.function.template call<Result, Arguments...>(*rest.op, keys, std::forward<Arguments>(arguments)...);
  }
};

class KernelTable {
 public:
  virtual ~KernelTable() = default;
  virtual void add(const char* op, SlotKernel kernel) = 0;

  template <OperatorName name, auto* function>
  void add(KernelTraits traits = {}) {
    using Counted = CountedKernel<name, function>;
    using Signature = std::remove_pointer_t<decltype(function)>;
    add(name.text, SlotKernel{c10::KernelFunction::makeFromUnboxedFunction(
                                  c10::CompileTimeFunctionPointer<Signature, &Counted::call>()),
                              c10::impl::CppSignature::make<Signature>(), traits, &Counted::route});
  }

  template <OperatorName name, class Takes, auto* function>
  void add_front() {
    using Front = FrontKernel<name, Takes, function>;
    using Call = std::remove_pointer_t<decltype(&Front::call)>;
    add(name.text, SlotKernel{c10::KernelFunction::makeFromUnboxedFunction(c10::CompileTimeFunctionPointer<Call, &Front::call>()),
                              c10::impl::CppSignature::make<Call>(), {}, &Front::Counted::route, &Front::rest});
  }
};

struct KernelLibrary {
  uint32_t abi;
  const char* slot;
  void (*add_kernels)(KernelTable& table);
};

}  // namespace torch_fl

#define FLAGOS_KERNELS(slot, table)                                                               \
  static void flagos_add_kernels(::torch_fl::KernelTable& table);                                 \
  extern "C" FLAGOS_VISIBLE const ::torch_fl::KernelLibrary* flagos_kernels_entry() {              \
    static const ::torch_fl::KernelLibrary library{FLAGOS_KERNELS_ABI, slot, &flagos_add_kernels}; \
    return &library;                                                                              \
  }                                                                                               \
  static void flagos_add_kernels(::torch_fl::KernelTable& table)
