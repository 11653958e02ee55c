// SPDX-License-Identifier: Apache-2.0
// properties.cpp: what a device is, under the names that torch.cuda uses.
#include <torch/csrc/utils/pybind.h>

#include <cstdio>
#include <sstream>

#include "bindings.h"
#include "device_properties.h"

namespace py = pybind11;

namespace torch_fl {
namespace {

using Properties = flagos_device_properties;

std::string uuid_text(const Properties& properties) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02x", properties.uuid[i]);
    text += byte;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::string repr(const Properties& p) {
  std::ostringstream out;
  out << "_FlagosDeviceProperties(name='" << p.name << "', major=" << p.major << ", minor=" << p.minor
      << ", total_memory=" << (p.total_memory >> 20) << "MB, multi_processor_count=" << p.multi_processor_count
      << ", uuid=" << uuid_text(p) << ", L2_cache_size=" << (p.l2_cache_size >> 20) << "MB"
      << (p.flags & FLAGOS_DEVICE_EMULATED ? ", emulated" : "") << ")";
  return out.str();
}

}  // namespace

void bind_properties(py::module_& m) {
  py::class_<Properties>(m, "_FlagosDeviceProperties")
      .def_property_readonly("name", [](const Properties& p) { return std::string(p.name); })
      .def_readonly("major", &Properties::major)
      .def_readonly("minor", &Properties::minor)
      .def_readonly("total_memory", &Properties::total_memory)
      .def_readonly("multi_processor_count", &Properties::multi_processor_count)
      .def_readonly("warp_size", &Properties::warp_size)
      .def_readonly("max_threads_per_block", &Properties::max_threads_per_block)
      .def_readonly("max_threads_per_multi_processor", &Properties::max_threads_per_multi_processor)
      .def_readonly("shared_memory_per_block", &Properties::shared_memory_per_block)
      .def_readonly("shared_memory_per_block_optin", &Properties::shared_memory_per_block_optin)
      .def_readonly("regs_per_multiprocessor", &Properties::regs_per_multiprocessor)
      .def_readonly("clock_rate", &Properties::clock_rate_khz)
      .def_readonly("L2_cache_size", &Properties::l2_cache_size)
      .def_property_readonly("is_integrated", [](const Properties& p) { return (p.flags & FLAGOS_DEVICE_INTEGRATED) != 0; })
      .def_property_readonly("is_emulated", [](const Properties& p) { return (p.flags & FLAGOS_DEVICE_EMULATED) != 0; })
      .def_property_readonly("uuid", &uuid_text)
      .def("__repr__", &repr);
  m.def("properties", [](int index) { return device_properties(narrow_index(index)); });
}

}  // namespace torch_fl
