// SPDX-License-Identifier: Apache-2.0
// target.cpp: tensors of the device that PyTorch drives (flagos_torch_device.h), for Python: what captures and replays work on
// that device knows its tensors only, and so do other libraries.
#include <flagos_target.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <unordered_map>

#include "bindings.h"

namespace py = pybind11;

namespace torch_fl {
namespace {

// A new list, in which `change` has replaced the tensors.
template <typename Change>
py::list changed(const py::list& items, Change change) {
  py::list result(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    py::object one = items[i];
    if (THPVariable_Check(one.ptr())) one = py::cast(change(THPVariable_Unpack(one.ptr())));
    result[i] = std::move(one);
  }
  return result;
}

c10::DeviceType target_type() {
  const TorchDevice* device = torch_device();
  TORCH_CHECK(device, "flagos: PyTorch does not drive this platform's devices, so there are no tensors of another device for them");
  return device->type();
}

void drop(void* owner) { delete static_cast<c10::Storage*>(owner); }

// Python may keep the tensor, so it owns memory that the target did not allocate, too.
at::Tensor owning_target(const at::Tensor& flagos, c10::DeviceType type) {
  at::Tensor made = as_target(flagos, type);
  if (flagos._is_zerotensor() || held(*flagos.storage().unsafeGetStorageImpl())) return made;
  c10::StorageImpl& borrowed = *made.storage().unsafeGetStorageImpl();
  borrowed.set_data_ptr_noswap({borrowed.mutable_data(), new c10::Storage(flagos.storage()), &drop, borrowed.device()});
  return made;
}

py::list targets(const py::list& items) {
  return changed(items, [type = target_type()](const at::Tensor& tensor) {
    return is_flagos(tensor) ? owning_target(tensor, type) : tensor;
  });
}

// Tensors over one storage get one storage again.
py::list flagos(const py::list& items) {
  std::unordered_map<const c10::StorageImpl*, c10::Storage> made;
  return changed(items, [&, type = target_type()](const at::Tensor& tensor) {
    if (tensor.device().type() != type) return tensor;
    auto target = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(tensor.storage().unsafeGetStorageImpl());
    auto [found, fresh] = made.try_emplace(target.get());
    if (fresh) found->second = as_flagos(std::move(target));
    auto alias = tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), true);
    return as_flagos(at::Tensor(std::move(alias)), found->second);
  });
}

}  // namespace

void bind_target(py::module_& m) {
  m.def("as_target", &targets);
  m.def("as_flagos", &flagos);
}

}  // namespace torch_fl
