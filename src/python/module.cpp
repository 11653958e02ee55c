// SPDX-License-Identifier: Apache-2.0
// module.cpp: the extension torch_fl._C. Importing it does nothing; `start` does.
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings.h"
#include "device.h"
#include "engine_threads.h"
#include "guard.h"
#include "generator.h"
#include "host_address.h"
#include "platform.h"
#include "route_log.h"
#include "slots.h"
#include "start.h"
#include "stream.h"
#include "torch_device.h"

namespace py = pybind11;
using release_gil = py::call_guard<py::gil_scoped_release>;

namespace {

py::dict build_info() {
  py::dict info;
  info["platform"] = TORCH_FL_PLATFORM;
  info["sdk_version"] = TORCH_FL_SDK_VERSION;
  info["torch_version"] = TORCH_FL_TORCH_VERSION;
  info["platform_abi"] = torch_fl::platform_abi();
  return info;
}

using ConditionTuple = std::tuple<std::string, std::string, std::vector<std::string>>;  // subject, relation, values
using StepTuple = std::tuple<std::string, std::vector<ConditionTuple>>;
using RequestTuple = std::tuple<std::string, std::vector<StepTuple>, std::string>;

void start(const std::string& platform, const std::vector<RequestTuple>& requests) {
  std::vector<torch_fl::RouteRequest> routes;
  for (const auto& [op, chain, origin] : requests) {
    auto& request = routes.emplace_back(torch_fl::RouteRequest{op, {}, origin});
    for (const auto& [backend, conditions] : chain) {
      auto& step = request.chain.emplace_back(torch_fl::RouteStep{backend, {}});
      for (const auto& [subject, relation, values] : conditions) step.conditions.push_back({subject, relation, values});
    }
  }
  torch_fl::start(platform, routes);
}

std::vector<std::tuple<std::string, std::string, std::string>> routes() {
  std::vector<std::tuple<std::string, std::string, std::string>> result;
  for (const auto* route : torch_fl::routes()) result.emplace_back(route->op, route->backend, route->origin);
  return result;
}

// Calls `function(payload)` in the order of a stream, and `failure(payload)` after it, whose text, if any, is an error.
void launch_host_function(uintptr_t function, const std::string& payload, int device, int64_t stream, uintptr_t failure) {
  const c10::Device place(c10::kPrivateUse1, torch_fl::narrow_index(device));
  auto run = reinterpret_cast<void (*)(const void*)>(function);
  auto failed = reinterpret_cast<const char* (*)(const void*)>(failure);
  torch_fl::launch(c10::Stream(c10::Stream::UNSAFE, place, stream), [run, failed, payload] {
    run(payload.data());
    const char* text = failed ? failed(payload.data()) : nullptr;
    TORCH_CHECK(!text, text);
  });
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  m.doc() = "The native part of torch_fl. Use torch.flagos; names here may change.";
  m.def("build_info", &build_info);
  m.def("start", &start);

  m.def("init", &torch_fl::ensure_initialized, release_gil());
  m.def("is_initialized", &torch_fl::is_initialized);
  m.def("native_device_type", []() -> std::optional<std::string> {
    const auto* native = torch_fl::torch_device();
    return native ? std::optional(c10::DeviceTypeName(native->type(), /*lower_case=*/true)) : std::nullopt;
  });
  m.def("in_bad_fork", &torch_fl::in_bad_fork);
  m.def("shutdown", &torch_fl::shutdown, release_gil());
  m.def("engine_has_threads", &torch_fl::engine_has_threads, release_gil());
  m.def("pass_through_engine_threads", &torch_fl::pass_through_engine_threads, release_gil());

  m.def("device_count", [] { return static_cast<int>(torch_fl::device_count()); });
  m.def("current_device", [] { return static_cast<int>(torch_fl::current_device()); });
  m.def("set_device", [](int index) { torch_fl::set_device(torch_fl::narrow_index(index)); });
  m.def("exchange_device", [](int index) {
    return static_cast<int>(torch_fl::exchange_device(index < 0 ? -1 : torch_fl::narrow_index(index)));
  });
  m.def("synchronize", [](int index) { torch_fl::synchronize_device(torch_fl::narrow_index(index)); }, release_gil());
  m.def("can_access_peer", [](int device, int peer) {
    return torch_fl::can_access_peer(torch_fl::narrow_index(device), torch_fl::narrow_index(peer));
  });

  m.def("default_generator", [](int index) {
    const auto& generator = torch_fl::default_generator(torch_fl::narrow_index(index));
    return py::reinterpret_steal<py::object>(THPGenerator_Wrap(generator));
  });
  m.def("stream_priority_range", &torch_fl::stream_priority_range);
  m.def("stream_priority", [](int64_t id, int index) { return torch_fl::stream_priority(id, torch_fl::narrow_index(index)); });
  m.def("stream_handle", [](int64_t id, int index) {
    return reinterpret_cast<uintptr_t>(torch_fl::stream_handle(id, torch_fl::narrow_index(index)));
  });
  m.def("stream_capturing", [](int64_t id, int index) {
    const c10::Device device(torch_fl::kFlagos, torch_fl::narrow_index(index));
    return torch_fl::stream_capturing(c10::Stream(c10::Stream::UNSAFE, device, id));
  });
  m.def("event_elapsed", [](uintptr_t start, uintptr_t end) {
    return torch_fl::event_elapsed(reinterpret_cast<void*>(start), reinterpret_cast<void*>(end));
  });
  m.def("compiled_kernels_run_on_host", &torch_fl::compiled_kernels_run_on_host);
  m.def("host_offset", [] { return static_cast<int64_t>(torch_fl::device_to_host_offset()); });
  m.def(
      "launch_host_function",
      [](uintptr_t function, const py::bytes& payload, int device, int64_t stream, uintptr_t failure) {
        const std::string copy = payload;
        py::gil_scoped_release released;
        launch_host_function(function, copy, device, stream, failure);
      },
      py::arg("function"), py::arg("payload"), py::arg("device"), py::arg("stream"), py::arg("failure") = 0);

  m.def("routes", &routes);
  m.def("load_kernels", &torch_fl::load_kernel_libraries, py::arg("folders"), py::arg("files") = std::vector<std::string>{});
  m.def("known_slots", &torch_fl::known_slots);
  m.def("slot_operators", &torch_fl::slot_operators);
  m.def("dispatch_counts", &torch_fl::dispatch_counts);
  m.def("reset_dispatch_counts", &torch_fl::reset_dispatch_counts);
  m.def("set_log", &torch_fl::set_log, py::arg("dispatch"), py::arg("fallback"));

  torch_fl::bind_memory(m);
  torch_fl::bind_properties(m);
  torch_fl::bind_target(m);
}
