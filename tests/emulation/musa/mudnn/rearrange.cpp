// SPDX-License-Identifier: Apache-2.0
// Permute and Concat: copies between layouts.
#include "lines.h"
#include "run.h"

namespace musa::dnn {

Status Permute::Run(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Permute", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), in = call.view(in_tensor, "in");
    require(out.same_sizes(in), "out and in differ in their sizes: give both in the order of out's dimensions");
    require_type(out, in.type, "out and in differ in their types");
    call.launch([=] { copy(out, in); });
  });
}

Status Concat::SetAxis(int axis) {
  axis_ = axis;
  return Status::SUCCESS;
}

Status Concat::Run(Handle& handle, Tensor& out_tensor, int count, const Tensor* inputs) const {
  using namespace emulation;
  return run(handle, "mudnn::Concat", [&](class Run& call) {
    const View out = call.view(out_tensor, "out");
    require(count > 0 && inputs, "there is nothing to concatenate");
    require_dim(axis_, out);
    std::vector<View> parts;
    int64_t length = 0;
    for (int i = 0; i < count; ++i) {
      parts.push_back(call.view(inputs[i], "input"));
      require(same_but(axis_, parts[i], out), "an input's sizes differ from out's");
      require_type(parts[i], out.type, "out and an input differ in their types");
      length += parts[i].sizes[axis_];
    }
    require(length == out.sizes[axis_], "the inputs do not fill out along the axis");
    call.launch([=, axis = axis_] {
      int64_t at = 0;
      for (const View& part : parts) {
        copy(out.narrow(axis, at, part.sizes[axis]), part);
        at += part.sizes[axis];
      }
    });
  });
}

}  // namespace musa::dnn
