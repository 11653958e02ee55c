// SPDX-License-Identifier: Apache-2.0
// typed.h: kernels of operators whose C++ signature is known; one instantiation serves all operators of one signature.
#pragma once

#include <flagos_kernels.h>

#include <string_view>
#include <tuple>

#include "arguments.h"
#include "eligible.h"
#include "written_lists.h"

namespace torch_fl::boxing {

template <class Signature>
class Typed;

template <class Result, class... Arguments>
class Typed<Result(Arguments...)> final : public c10::OperatorKernel {
 public:
  using Redispatch = Result (*)(c10::DispatchKeySet, Arguments...);  // at::_ops::add_Tensor::redispatch

  Typed(const Facts& facts, Redispatch redispatch, Route** route) : facts_(facts), redispatch_(redispatch), route_(route) {}

  Result operator()(Arguments... arguments) {
    served(*route_);
    Call call(facts_);
    return run(call, Passed<Arguments>(call, arguments)...);
  }

 private:
  Result run(Call& call, Passed<Arguments>&&... given) {
    call.require_one_device();
    try {
      if constexpr (std::is_void_v<Result>) {
        redispatch_(kTargetKeys, given.get()...);
        (given.settle(call), ...);
      } else {
        Result result = redispatch_(kTargetKeys, given.get()...);
        (given.settle(call), ...);
        return returned(call, std::forward<Result>(result));
      }
    } catch (...) {
      (given.settle(call), ...);  // memory that was resized before the fault
      rethrow_in_flagos_words();
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

  const Facts facts_;
  const Redispatch redispatch_;
  Route** const route_;
};

// Kernels for lists take the flagos tensors as they are: of each they use geometry and memory, and what else they need they ask
// of PyTorch's operators, whatever the device. An optimizer's step so costs no alias for each of its tensors.
template <class Signature>
class Direct;

template <class Result, class... Arguments>
class Direct<Result(Arguments...)> final : public c10::OperatorKernel {
 public:
  using Redispatch = typename Typed<Result(Arguments...)>::Redispatch;

  Direct(unsigned written, Redispatch redispatch, Route** route) : written_(written), redispatch_(redispatch), route_(route) {}

  Result operator()(Arguments... arguments) {
    served(*route_);
    const Written written(written_, arguments...);
    try {
      if constexpr (std::is_void_v<Result>) {
        redispatch_(kTargetKeys, std::forward<Arguments>(arguments)...);
        written.count();
      } else {
        return redispatch_(kTargetKeys, std::forward<Arguments>(arguments)...);
      }
    } catch (...) {
      rethrow_in_flagos_words();
    }
  }

 private:
  const unsigned written_;
  const Redispatch redispatch_;
  Route** const route_;
};

void add_kernel(KernelTable& table, const char* name, const char* overload, SlotKernel kernel);

template <class Op>
void add(KernelTable& table) {
  using Signature = typename Op::schema;
  constexpr Facts facts{Op::name, std::string_view(Op::schema_str).find("!)[]") != std::string_view::npos,
                        takes_host_tensors(Op::name)};
  auto** route = new Route*(nullptr);  // as long as the process
  const auto kernel = [&] {
    if constexpr (takes_lists_directly(Op::name))
      return c10::KernelFunction::makeFromUnboxedFunctor<false, Direct<Signature>>(
          std::make_unique<Direct<Signature>>(written_lists(Op::schema_str), &Op::redispatch, route));
    else
      return c10::KernelFunction::makeFromUnboxedFunctor<false, Typed<Signature>>(
          std::make_unique<Typed<Signature>>(facts, &Op::redispatch, route));
  }();
  add_kernel(table, Op::name, Op::overload_name, {kernel, c10::impl::CppSignature::make<Signature>(), {}, route});
}

}  // namespace torch_fl::boxing
