// SPDX-License-Identifier: Apache-2.0
// Dropout: an element stays where its number of the Philox sequence is at least p.
#include "../murand/philox.h"
#include "run.h"

namespace musa::dnn {
Status Dropout::SetP(double p) {
  if (!(p >= 0 && p <= 1)) return Status::INVALID_PARAMETER;
  p_ = p;
  return Status::SUCCESS;
}
Status Dropout::SetScale(double scale) {
  scale_ = scale;
  return Status::SUCCESS;
}
Status Dropout::SetSeed(uint64_t seed) {
  seed_ = seed;
  return Status::SUCCESS;
}
Status Dropout::SetOffset(uint64_t offset) {
  offset_ = offset;
  return Status::SUCCESS;
}

Status Dropout::RunDropout(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor, Tensor& mask_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::Dropout", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), in = call.view(in_tensor, "in"), mask = call.view(mask_tensor, "mask");
    require_float(in);
    require_type(out, in.type, "out and in differ in their types");
    require_type(mask, Tensor::Type::BOOL, "the mask is BOOL");
    require(out.same_sizes(in) && out.same_sizes(mask), "out, in and mask differ in their sizes");
    call.launch([=, p = p_, scale = scale_, seed = seed_, offset = offset_] {
      // One number for each element in the order of its indices, whatever the strides: the same seed, the same mask.
      std::array<int64_t, kMaxRank> at{};
      murand::Sequence numbers(seed);
      for (int64_t i = 0, count = mask.elements(), place = 0; i < count; ++i) {
        store_one<uint8_t>(mask, place, numbers.at(offset + static_cast<uint64_t>(i)) * 0x1p-32 >= p);
        for (int d = mask.rank - 1; d >= 0; --d) {
          place += mask.strides[d];
          if (++at[d] < mask.sizes[d]) break;
          place -= mask.strides[d] * mask.sizes[d];
          at[d] = 0;
        }
      }
      map<double, double>(out, in, mask, [=](double x, double kept) { return kept != 0 ? x * scale : 0 * x; });
    });
  });
}

Status Dropout::RunDropoutBwd(Handle& handle, Tensor& grad_in_tensor, const Tensor& grad_out_tensor, const Tensor& mask_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::DropoutBackward", [&](class Run& call) {
    const View grad_in = call.view(grad_in_tensor, "grad_in"), grad_out = call.view(grad_out_tensor, "grad_out"),
               mask = call.view(mask_tensor, "mask");
    require_float(grad_out);
    require_type(grad_in, grad_out.type, "the gradients differ in their types");
    require_type(mask, Tensor::Type::BOOL, "the mask is BOOL");
    require(grad_in.same_sizes(grad_out) && grad_in.same_sizes(mask), "the tensors differ in their sizes");
    call.launch([=, scale = scale_] {
      map<double, double>(grad_in, grad_out, mask, [=](double g, double kept) { return g * kept * scale; });
    });
  });
}

}  // namespace musa::dnn
