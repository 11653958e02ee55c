// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "dense.h"
#include "run.h"

namespace musa::dnn {

Status GroupNorm::SetAxis(int axis) {
  axis_ = axis;
  return Status::SUCCESS;
}
Status GroupNorm::SetGroup(int groups) {
  groups_ = groups;
  return Status::SUCCESS;
}
Status GroupNorm::SetEpsilon(double epsilon) {
  epsilon_ = epsilon;
  return Status::SUCCESS;
}

Status GroupNorm::Run(Handle& handle, Tensor& out_tensor, Tensor& mean_tensor, Tensor& rstd_tensor, const Tensor& in_tensor,
                      const Tensor& weight_tensor, const Tensor& bias_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::GroupNorm", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), mean = call.view(mean_tensor, "mean"), rstd = call.view(rstd_tensor, "rstd"),
               in = call.view(in_tensor, "in"), weight = call.optional(weight_tensor, "weight"), bias = call.optional(bias_tensor, "bias");
    require_float(in);
    require_type(out, in.type, "out and in differ in their types");
    require(out.same_sizes(in), "out and in differ in their sizes");
    require(axis_ == 1 && in.rank >= 2, "the channels are dimension 1", Status::NOT_SUPPORTED);
    const int64_t channels = in.sizes[1], groups = groups_;
    require(groups > 0 && channels % groups == 0, "the groups do not divide the channels");
    if (in.elements() == 0) return;
    const int64_t rows = in.sizes[0] * groups, plane = in.elements() / (in.sizes[0] * channels);
    for (const View* view : {&mean, &rstd}) {
      require_float(*view);
      require(view->elements() == rows, "mean and rstd have one number for each sample and group");
    }
    for (const View* view : {&weight, &bias})
      if (*view) require(is_float(view->type) && view->elements() == channels, "weight and bias have one number for each channel");
    call.launch([=, epsilon = epsilon_] {
      std::vector<double> x = dense<double>(in), means(rows), rstds(rows);
      const auto w = dense<double>(weight), b = dense<double>(bias);
      const int64_t width = channels / groups, size = width * plane;
      for (int64_t r = 0; r < rows; ++r) {
        double* row = x.data() + r * size;
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < size; ++i) sum += row[i];
        const double centre = sum / static_cast<double>(size);
        for (int64_t i = 0; i < size; ++i) squares += (row[i] - centre) * (row[i] - centre);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
        for (int64_t i = 0; i < size; ++i) {
          const int64_t channel = r % groups * width + i / plane;
          row[i] = (row[i] - centre) * scale * (w.empty() ? 1 : w[channel]) + (b.empty() ? 0 : b[channel]);
        }
        means[r] = centre;
        rstds[r] = scale;
      }
      write(out, x);
      write(mean, means);
      write(rstd, rstds);
    });
  });
}

}  // namespace musa::dnn
