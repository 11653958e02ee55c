// SPDX-License-Identifier: Apache-2.0
#include "engine_threads.h"

#include <c10/core/TensorImpl.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <type_traits>

#include "device.h"

namespace torch_fl {
namespace {

namespace autograd = torch::autograd;

// A step of a graph on one device that computes nothing and holds no memory.
struct Pass final : autograd::Node {
  explicit Pass(c10::DeviceIndex index) {
    const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
    add_input_metadata(at::detail::make_tensor<c10::TensorImpl>(keys, caffe2::TypeMeta::Make<float>(), c10::Device(kDevice, index)));
  }
  autograd::variable_list apply(autograd::variable_list&&) override { return {}; }
};

// How nodes are held depends on PyTorch's version.
template <class Pointer>
Pointer pass(c10::DeviceIndex index) {
  if constexpr (std::is_same_v<Pointer, std::shared_ptr<autograd::Node>>)
    return std::make_shared<Pass>(index);
  else
    return c10::make_intrusive<Pass>(index);
}

}  // namespace

void pass_through_engine_threads() {
  for (int i = 0; i < device_count(); ++i) {
    const autograd::Edge root(pass<decltype(autograd::Edge::function)>(static_cast<c10::DeviceIndex>(i)), 0);
    autograd::Engine::get_default_engine().execute({root}, {at::Tensor()}, false, false, false);
  }
}

}  // namespace torch_fl
