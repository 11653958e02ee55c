// SPDX-License-Identifier: Apache-2.0
// typed.h: the kernel of one operator, from its C++ signature alone; one instantiation for each operator of the target.
#pragma once

#include <flagos_kernels.h>

#include <string_view>
#include <tuple>

#include "arguments.h"
#include "eligible.h"

namespace torch_fl::boxing {

// Facts of an operator, known when it is compiled.
template <class Op>
struct Facts {
  static constexpr bool writes_lists = std::string_view(Op::schema_str).find("!)[]") != std::string_view::npos;
  static constexpr Beside beside = takes_host_tensors(Op::name) ? Beside::host : Beside::nothing;
};

template <class Op, class Signature = typename Op::schema>
struct Typed;

template <class Op, class Result, class... Arguments>
struct Typed<Op, Result(Arguments...)> {
  template <class T>
  using Given = Passed<T, Facts<Op>::beside, Facts<Op>::writes_lists>;

  static inline Route* route = nullptr;

  static Result call(Arguments... arguments) {
    served(route);
    Call call(Op::name);
    return run(call, Given<Arguments>(call, arguments)...);
  }

 private:
  static Result run(Call& call, Given<Arguments>&&... given) {
    call.require_one_device();
    try {
      if constexpr (std::is_void_v<Result>) {
        Op::redispatch(kTargetKeys, given.get()...);
        (given.settle(call), ...);
      } else {
        Result result = Op::redispatch(kTargetKeys, given.get()...);
        (given.settle(call), ...);
        return returned(call, std::forward<Result>(result));
      }
    } catch (...) {
      (given.settle(call), ...);  // memory that was resized before the fault
      call.rethrow();
    }
  }

  // What is returned by reference is an argument.
  static at::Tensor& returned(Call& call, at::Tensor& result) {
    const at::Tensor* original = call.original(result);
    return original ? const_cast<at::Tensor&>(*original) : result;
  }
  static const at::Tensor& returned(Call& call, const at::Tensor& result) {
    const at::Tensor* original = call.original(result);
    return original ? *original : result;
  }
  static at::Tensor returned(Call& call, at::Tensor&& result) { return call.result(std::move(result)); }
  static std::vector<at::Tensor> returned(Call& call, std::vector<at::Tensor>&& results) { return call.result(std::move(results)); }
  template <class... Parts>
  static std::tuple<Parts...> returned(Call& call, std::tuple<Parts...>&& results) {
    return std::apply([&](auto&&... parts) { return std::tuple<Parts...>{returned(call, std::forward<Parts>(parts))...}; },
                      std::move(results));
  }
  template <class Value>
  static Value returned(Call&, Value&& value) {
    return std::forward<Value>(value);
  }
};

void add_kernel(KernelTable& table, const char* name, const char* overload, SlotKernel kernel);

template <class Op>
void add(KernelTable& table) {
  using Kernel = Typed<Op>;
  using Signature = typename Op::schema;
  add_kernel(table, Op::name, Op::overload_name,
             {c10::KernelFunction::makeFromUnboxedFunction(c10::CompileTimeFunctionPointer<Signature, &Kernel::call>()),
              c10::impl::CppSignature::make<Signature>(), {}, &Kernel::route});
}

}  // namespace torch_fl::boxing
