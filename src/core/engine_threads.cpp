// SPDX-License-Identifier: Apache-2.0
#include "engine_threads.h"

#include <c10/core/TensorImpl.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

#include <atomic>
#include <memory>
#include <type_traits>

#include "device.h"

namespace torch_fl {
namespace {

namespace autograd = torch::autograd;

// A tensor without elements and without a storage: the engine goes by its device alone.
at::Tensor nothing_on(c10::DeviceIndex index) {
  const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::make_tensor<c10::TensorImpl>(keys, caffe2::TypeMeta::Make<float>(), c10::Device(kDevice, index));
}

// A step of a graph on that device that computes nothing.
struct Pass final : autograd::Node {
  explicit Pass(const at::Tensor& nothing) { add_input_metadata(nothing); }
  autograd::variable_list apply(autograd::variable_list&&) override {
    passed.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  static inline std::atomic<int> passed{0};
};

// The engine makes a queue for each of its threads when it starts them, and shows them to its subclasses alone.
struct EngineFields : autograd::Engine {
  static bool has_queues(const autograd::Engine& engine) { return !(engine.*(&EngineFields::device_ready_queues_)).empty(); }
};

// How nodes are held depends on PyTorch's version.
template <class Pointer>
Pointer pass(const at::Tensor& nothing) {
  if constexpr (std::is_same_v<Pointer, std::shared_ptr<autograd::Node>>)
    return std::make_shared<Pass>(nothing);
  else
    return c10::make_intrusive<Pass>(nothing);
}

}  // namespace

bool engine_has_threads() { return EngineFields::has_queues(autograd::Engine::get_default_engine()); }

int pass_through_engine_threads() {
  const int before = Pass::passed;
  for (int i = 0; i < device_count(); ++i) {
    const at::Tensor nothing = nothing_on(static_cast<c10::DeviceIndex>(i));
    const autograd::Edge root(pass<decltype(autograd::Edge::function)>(nothing), 0);
    autograd::Engine::get_default_engine().execute({root}, {nothing}, /*keep_graph=*/false, /*create_graph=*/false, /*accumulate_grad=*/true);
  }
  return Pass::passed - before;
}

}  // namespace torch_fl
