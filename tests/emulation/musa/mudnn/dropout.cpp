// SPDX-License-Identifier: Apache-2.0
// Dropout with numbers of Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
#include <array>

#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter) {
  std::array<uint32_t, 4> x{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ low, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ x[3] ^ high,
         static_cast<uint32_t>(a)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return x;
}

}  // namespace
}  // namespace emulation

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
      std::array<uint32_t, 4> numbers{};
      for (int64_t i = 0, count = mask.elements(), place = 0; i < count; ++i) {
        const uint64_t draw = offset + static_cast<uint64_t>(i);
        if (i == 0 || draw % 4 == 0) numbers = philox(seed, draw / 4);
        store_one<uint8_t>(mask, place, numbers[draw % 4] * 0x1p-32 >= p);
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
