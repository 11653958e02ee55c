// SPDX-License-Identifier: Apache-2.0
// Convolution: what it accepts, and which algorithm it recommends.
#include "convolution.h"
#include "dense.h"
#include "emulation/quirks.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

struct Settings {
  const std::vector<int>&pad, &stride, &dilation;
  int groups;
};

Filter filter(const Run& call, const Settings& settings, const Tensor& in, const Tensor& weight, const Tensor& out) {
  require(settings.pad.size() == 2, "Convolution takes two spatial dimensions, set with SetNdInfo", Status::NOT_SUPPORTED);
  Filter f;
  for (const auto& [view, tensor, role] :
       {std::tuple{&f.in, &in, "in"}, std::tuple{&f.weight, &weight, "weight"}, std::tuple{&f.out, &out, "out"}}) {
    const View given = call.view(*tensor, role);
    require(given.rank == 4 && (given.format == Tensor::Format::NCHW || given.format == Tensor::Format::NHWC),
            "Convolution takes NCHW or NHWC: two spatial dimensions", Status::NOT_SUPPORTED);
    *view = channels_first(given);
    require_float(*view);
  }
  require(f.in.type == f.weight.type && f.in.type == f.out.type, "the tensors differ in their types", Status::NOT_SUPPORTED);
  f.groups = settings.groups;
  f.tf32 = call.allow_tf32();
  require(f.groups > 0 && f.weight.sizes[0] % f.groups == 0, "the groups do not divide the filters");
  require(f.in.sizes[0] == f.out.sizes[0], "in and out differ in their batch");
  require(f.in.sizes[1] == f.weight.sizes[1] * f.groups, "the weight does not fit in's channels and the groups");
  require(f.out.sizes[1] == f.weight.sizes[0], "the weight does not fit out's channels");
  for (int axis = 0; axis < 2; ++axis) {
    f.pad[axis] = settings.pad[axis];
    f.stride[axis] = settings.stride[axis];
    f.dilation[axis] = settings.dilation[axis];
    require(f.pad[axis] >= 0 && f.stride[axis] > 0 && f.dilation[axis] > 0, "pad, stride or dilation is out of range");
    const int64_t span = f.dilation[axis] * (f.weight.sizes[2 + axis] - 1) + 1;
    const int64_t reach = f.in.sizes[2 + axis] + 2 * f.pad[axis] - span;
    require(reach >= 0 && f.out.sizes[2 + axis] == reach / f.stride[axis] + 1, "out's height or width is not that of this convolution");
  }
  return f;
}

// The three kinds of algorithms have the same names. DIRECT does not do groups, and WINOGRAD_NONFUSED is for dense 3 x 3
// kernels without stride; the recommendation looks at less than that.
template <class Algorithm>
Algorithm recommended(const Filter& f) {
  if (!::emulation::quirk("convolution_algorithm")) return Algorithm::IMPLICIT_GEMM;
  if (f.groups > 1) return Algorithm::DIRECT;
  if (f.weight.sizes[2] == 3 && f.weight.sizes[3] == 3) return Algorithm::WINOGRAD_NONFUSED;
  return Algorithm::IMPLICIT_GEMM;
}

template <class Algorithm>
void require_algorithm(const Filter& f, Algorithm algorithm) {
  if (algorithm == Algorithm::DIRECT) require(f.groups == 1, "DIRECT is for one group", Status::NOT_SUPPORTED);
  if (algorithm == Algorithm::WINOGRAD_NONFUSED)
    require(f.groups == 1 && f.weight.sizes[2] == 3 && f.weight.sizes[3] == 3 && f.stride == std::array<int64_t, 2>{1, 1} &&
                f.dilation == std::array<int64_t, 2>{1, 1},
            "WINOGRAD_NONFUSED is for one group, a kernel of 3 x 3, and no stride or dilation", Status::NOT_SUPPORTED);
}

template <class Algorithm>
int64_t workspace_bytes(const Filter& f, Algorithm algorithm) {
  if (algorithm == Algorithm::IMPLICIT_GEMM || algorithm == Algorithm::DIRECT) return 0;
  return f.taps() * f.places() * f.in.element_bytes();
}

}  // namespace
}  // namespace emulation

Status Convolution::FusedActivationDesc::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}

Status Convolution::SetNdInfo(int count, const int* pad, const int* stride, const int* dilation) {
  if (count <= 0 || !pad || !stride || !dilation) return Status::INVALID_PARAMETER;
  pad_.assign(pad, pad + count);
  stride_.assign(stride, stride + count);
  dilation_.assign(dilation, dilation + count);
  return Status::SUCCESS;
}
Status Convolution::SetNdInfo(std::initializer_list<int> pad, std::initializer_list<int> stride, std::initializer_list<int> dilation) {
  if (pad.size() != stride.size() || pad.size() != dilation.size()) return Status::INVALID_PARAMETER;
  return SetNdInfo(static_cast<int>(pad.size()), pad.begin(), stride.begin(), dilation.begin());
}
Status Convolution::SetGroups(int groups) {
  if (groups < 1) return Status::INVALID_PARAMETER;
  groups_ = groups;
  return Status::SUCCESS;
}
Status Convolution::SetComputeMode(ComputeMode) { return Status::SUCCESS; }

Status Convolution::GetRecommendForwardAlgorithm(Handle& handle, Algorithm& algorithm, const Tensor& out, const Tensor& in,
                                                 const Tensor& weight) const {
  using namespace emulation;
  return run(handle, "mudnn::Convolution", [&](class Run& call) {
    algorithm = recommended<Algorithm>(filter(call, {pad_, stride_, dilation_, groups_}, in, weight, out));
  });
}
Status Convolution::GetRecommendBackwardDataAlgorithm(Handle& handle, AlgorithmBwdData& algorithm, const Tensor& grad_in,
                                                      const Tensor& grad_out, const Tensor& weight) const {
  using namespace emulation;
  return run(handle, "mudnn::Convolution", [&](class Run& call) {
    algorithm = recommended<AlgorithmBwdData>(filter(call, {pad_, stride_, dilation_, groups_}, grad_in, weight, grad_out));
  });
}
Status Convolution::GetRecommendBackwardFilterAlgorithm(Handle& handle, AlgorithmBwdFilter& algorithm, const Tensor& grad_weight,
                                                        const Tensor& in, const Tensor& grad_out) const {
  using namespace emulation;
  return run(handle, "mudnn::Convolution", [&](class Run& call) {
    algorithm = recommended<AlgorithmBwdFilter>(filter(call, {pad_, stride_, dilation_, groups_}, in, grad_weight, grad_out));
  });
}
Status Convolution::GetForwardWorkspaceSize(Handle& handle, size_t& bytes, const Tensor& out, const Tensor& in, const Tensor& weight,
                                            Algorithm algorithm) const {
  using namespace emulation;
  return run(handle, "mudnn::Convolution", [&](class Run& call) {
    bytes = static_cast<size_t>(workspace_bytes(filter(call, {pad_, stride_, dilation_, groups_}, in, weight, out), algorithm));
  });
}

Status Convolution::Run(Handle& handle, Tensor& out, const Tensor& in, const Tensor& weight, Algorithm algorithm,
                        const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Convolution", [&](class Run& call) {
    const Filter f = filter(call, {pad_, stride_, dilation_, groups_}, in, weight, out);
    require_algorithm(f, algorithm);
    if (f.out.elements() == 0) return;
    call.workspace(memory, workspace_bytes(f, algorithm));
    call.launch([=] { forward(f, {}, {}, false); });
  });
}

Status Convolution::RunBwdData(Handle& handle, Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                               AlgorithmBwdData algorithm, const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::ConvolutionBackwardData", [&](class Run& call) {
    const Filter f = filter(call, {pad_, stride_, dilation_, groups_}, grad_in, weight, grad_out);
    require_algorithm(f, algorithm);
    if (f.in.elements() == 0) return;
    call.workspace(memory, workspace_bytes(f, algorithm));
    call.launch([=] { backward_data(f); });
  });
}

Status Convolution::RunBwdFilter(Handle& handle, Tensor& grad_weight, const Tensor& in, const Tensor& grad_out,
                                 AlgorithmBwdFilter algorithm, const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::ConvolutionBackwardFilter", [&](class Run& call) {
    const Filter f = filter(call, {pad_, stride_, dilation_, groups_}, in, grad_weight, grad_out);
    require_algorithm(f, algorithm);
    if (f.weight.elements() == 0) return;
    call.workspace(memory, std::max<int64_t>(f.weight.elements() * 4, workspace_bytes(f, algorithm)));
    call.launch([=] { backward_filter(f); });
  });
}

Status Convolution::RunFusion(Handle& handle, Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
                              const Tensor& add, const FusedActivationDesc& activation, Algorithm algorithm,
                              const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::ConvolutionFusion", [&](class Run& call) {
    const Filter f = filter(call, {pad_, stride_, dilation_, groups_}, in, weight, out);
    require(groups_ == 1, "a fused convolution has one group", Status::NOT_SUPPORTED);
    require_algorithm(f, algorithm);
    const View bias_view = call.optional(bias, "bias"), add_view = channels_first(call.optional(add, "add"));
    if (bias_view) {
      require_type(bias_view, f.out.type, "the bias has out's type");
      require(bias_view.elements() == f.out.sizes[1], "the bias has one number for each channel of out");
    }
    if (add_view) require(add_view.type == f.out.type && add_view.same_sizes(f.out), "`add` has out's type and sizes");
    if (f.out.elements() == 0) return;
    call.workspace(memory, workspace_bytes(f, algorithm));
    call.launch([=, relu = activation.mode_ == FusedActivationDesc::Mode::RELU] { forward(f, bias_view, add_view, relu); });
  });
}

}  // namespace musa::dnn
