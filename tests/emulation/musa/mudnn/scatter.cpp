// SPDX-License-Identifier: Apache-2.0
// Scatter: in the order of the indices, so that results do not depend on chance.
#include "arithmetic.h"
#include "indices.h"
#include "lines.h"

namespace musa::dnn {
namespace emulation {
namespace {

void scatter(const View& out, const View& index, const View& src, int dim, bool sum) {
  const int64_t length = out.sizes[dim];
  with_element(out.type, [&](auto tag) {
    using Element = decltype(tag);
    using Number = std::conditional_t<std::is_same_v<Element, Half> || std::is_same_v<Element, BFloat16>, float,
                                      std::conditional_t<std::is_same_v<Element, Bool>, uint8_t, Element>>;
    std::vector<int64_t> places;
    each_line<3>({index, src, out}, dim, [&](const std::array<Line, 3>& line) {
      line[0].read(places);
      const auto* from = reinterpret_cast<const Element*>(line[1].data);
      auto* to = reinterpret_cast<Element*>(line[2].data);
      for (size_t i = 0; i < places.size(); ++i) {
        Element& target = to[checked(places[i], length, "mudnn::Scatter") * line[2].stride];
        const Element value = from[i * line[1].stride];
        target = sum ? convert<Element>(add(convert<Number>(target), convert<Number>(value))) : value;
      }
    });
  });
}

}  // namespace
}  // namespace emulation

Status Scatter::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}

Status Scatter::Run(Handle& handle, Tensor& out_tensor, const Tensor& index_tensor, const Tensor& src_tensor, int dim,
                    const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Scatter", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), index = call.view(index_tensor, "index"), src = call.view(src_tensor, "src");
    require_index(index);
    require_dim(dim, out);
    require_type(src, out.type, "out and src differ in their types");
    require(mode_ == Mode::UPDATE_ONLY || out.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
    require(index.rank == out.rank && src.rank == out.rank, "out, index and src differ in their ranks");
    for (int d = 0; d < out.rank; ++d)
      require(index.sizes[d] <= src.sizes[d] && (d == dim || index.sizes[d] <= out.sizes[d]), "index is larger than src or out");
    if (index.elements() == 0) return;
    call.workspace(memory, index.elements() * 8);
    call.launch([=, sum = mode_ == Mode::ADD] { scatter(out, index, src, dim, sum); });
  });
}

}  // namespace musa::dnn
