// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"
#include "lines.h"
#include "run.h"

namespace musa::dnn {

Status Cum::SetDim(int dim) {
  dim_ = dim;
  return Status::SUCCESS;
}
Status Cum::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}

Status Cum::Run(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor, const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Cum", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), in = call.view(in_tensor, "in");
    require(out.same_sizes(in), "out and in differ in their sizes");
    require_type(out, in.type, "out and in differ in their types");
    require(in.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
    require_dim(dim_, in);
    if (in.elements() == 0) return;
    call.workspace(memory, in.elements() / in.sizes[dim_] * 8);
    call.launch([=, dim = dim_, product = mode_ == Mode::MUL] {
      const auto scan = [&](auto tag) {  // floating-point numbers in double
        using T = decltype(tag);
        std::vector<T> values;
        each_line<2>({out, in}, dim, [&](const std::array<Line, 2>& line) {
          line[1].read(values);
          for (size_t i = 1; i < values.size(); ++i)
            values[i] = product ? multiply(values[i - 1], values[i]) : add(values[i - 1], values[i]);
          line[0].write(values);
        });
      };
      if (is_float(in.type)) return scan(double{});
      scan(uint64_t{});
    });
  });
}

}  // namespace musa::dnn
