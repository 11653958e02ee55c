// SPDX-License-Identifier: Apache-2.0
// bridge.cpp: the kernels of slot `flaggems`, one boxed functor an operator. Which operators there are, and the function of each,
// says torch_fl.flaggems; FlagGems itself, which takes seconds to import, is imported by the first call.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <flagos_kernels.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <mutex>
#include <optional>

#include "operands.h"
#include "python_call.h"
#include "stepwise_draw.h"

namespace py = pybind11;

namespace torch_fl::flaggems {
namespace {

// The module is kept for good: at exit the interpreter may be gone before the kernels are.
py::object& package() {
  static auto* module_ = new py::object(py::module_::import("torch_fl.flaggems"));
  return *module_;
}

class FlagGemsKernel final : public c10::OperatorKernel {
 public:
  FlagGemsKernel(std::string function, bool differentiable, Route** route)
      : function_(std::move(function)), differentiable_(differentiable), route_(route) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    const OperatorPlan& plan = plan_of(op);
    std::optional<at::AutoDispatchBelowADInplaceOrView> below_autograd;
    if (!differentiable_) below_autograd.emplace();
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const c10::DeviceGuard on(bring_together(plan, stack));
    const StepwiseDraw draw;  // FlagGems reads the generator's state, and writes it back further on
    call(op, plan, stack);
    served(*route_);
  }

 private:
  const OperatorPlan& plan_of(const c10::OperatorHandle& op) {
    std::call_once(planned_, [&] { plan_ = std::make_unique<OperatorPlan>(op); });
    return *plan_;
  }

  // The callable, looked up once. Never released: see package().
  py::handle callable() {
    PyObject* known = callable_.load(std::memory_order_acquire);
    if (!known) {
      known = package().attr("load")(function_).release().ptr();
      callable_.store(known, std::memory_order_release);
    }
    return known;
  }

  void call(const c10::OperatorHandle& op, const OperatorPlan& plan, torch::jit::Stack* stack) {
    const py::gil_scoped_acquire gil;
    std::vector<c10::IValue> arguments = torch::jit::pop(*stack, plan.arguments);
    try {
      const auto [by_position, by_name] = python_arguments(op.schema(), arguments);
      push_results(op.schema(), callable()(*by_position, **by_name), stack, arguments);
    } catch (py::error_already_set& error) {
      report(error, plan);
    } catch (const c10::TypeError& error) {
      TORCH_CHECK(false, "flagos: ", plan.name, " (FlagGems' ", function_, "): ", error.what_without_backtrace());
    }
  }

  [[noreturn]] void report(py::error_already_set& error, const OperatorPlan& plan) {
    if (error.matches(PyExc_NotImplementedError)) throw Decline(py::str(error.value()).cast<std::string>());
    // No line of Python ran: the function does not take the operator's arguments, as where it wants one that has a default.
    if (error.matches(PyExc_TypeError) && !error.trace()) throw Decline(py::str(error.value()).cast<std::string>());
    // What means the same whichever kernel ran keeps its type.
    const bool general = error.matches(PyExc_KeyboardInterrupt) || error.matches(PyExc_SystemExit) ||
                         error.matches(py::module_::import("torch").attr("OutOfMemoryError"));
    if (general) {
      error.restore();
      throw python_error();
    }
    const std::string kind = py::str(error.type().attr("__name__")).cast<std::string>();
    std::string text = py::str(error.value()).cast<std::string>();
    text.resize(std::min(text.find('\n'), text.size()));  // the rest is in the cause
    const std::string message = "flagos: " + plan.name + " (FlagGems' " + function_ + "): " + kind + ": " + text;
    py::raise_from(error, PyExc_RuntimeError, message.c_str());
    throw python_error();
  }

  const std::string function_;
  const bool differentiable_;
  Route** const route_;
  std::once_flag planned_;
  std::unique_ptr<OperatorPlan> plan_;
  std::atomic<PyObject*> callable_{nullptr};
};

}  // namespace
}  // namespace torch_fl::flaggems

FLAGOS_KERNELS("flaggems", table) {
  using torch_fl::Route;
  const py::gil_scoped_acquire gil;
  const py::module_ operators = py::module_::import("torch_fl.flaggems.operators");
  const py::object differentiable = operators.attr("DIFFERENTIABLE");
  for (const auto& [op, function] : operators.attr("table")().cast<std::map<std::string, std::string>>()) {
    auto** route = new Route*(nullptr);
    const bool records = differentiable.contains(op);
    auto functor = std::make_unique<torch_fl::flaggems::FlagGemsKernel>(function, records, route);
    table.add(op.c_str(), {c10::KernelFunction::makeFromBoxedFunctor(std::move(functor)), std::nullopt,
                           {.may_decline = true, .differentiable = records, .by_request = true}, route});
  }
}
