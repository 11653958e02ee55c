// SPDX-License-Identifier: Apache-2.0
#include "indices.h"
#include "lines.h"

namespace musa::dnn {
namespace emulation {
namespace {

void gather_slices(const View& out, const View& index, const View& self, int axis) {
  std::array<int64_t, kMaxRank> at{};
  for (int64_t i = 0, count = index.elements(); i < count; ++i) {
    View target = out;  // the slice of out for this index: the index's dimensions stand where the axis was
    int64_t offset = 0;
    for (int d = 0; d < index.rank; ++d) {
      offset += at[d] * index.strides[d];
      target.data = target.at(at[d] * out.strides[axis + d]);
      target.sizes[axis + d] = 1;
    }
    const View source = self.narrow(axis, checked(load_one<int64_t>(index, offset), self.sizes[axis], "mudnn::GatherX"), 1);
    View flat = target;  // source's rank: one dimension of size 1 for the index's
    flat.rank = self.rank;
    for (int d = axis + 1; d < self.rank; ++d) {
      flat.sizes[d] = target.sizes[d + index.rank - 1];
      flat.strides[d] = target.strides[d + index.rank - 1];
    }
    copy(flat, source);
    for (int d = index.rank - 1; d >= 0; --d) {
      if (++at[d] < index.sizes[d]) break;
      at[d] = 0;
    }
  }
}

void gather_elements(const View& out, const View& index, const View& self, int axis) {
  std::vector<int64_t> places;
  View source = self;  // walked with out's sizes; its own length along the axis is checked
  for (int d = 0; d < self.rank; ++d) source.sizes[d] = out.sizes[d];
  const int64_t length = self.sizes[axis];
  with_element(out.type, [&](auto tag) {
    using Element = decltype(tag);
    each_line<3>({out, index, source}, axis, [&](const std::array<Line, 3>& line) {
      line[1].read(places);
      auto* to = reinterpret_cast<Element*>(line[0].data);
      const auto* from = reinterpret_cast<const Element*>(line[2].data);
      for (size_t i = 0; i < places.size(); ++i)
        to[i * line[0].stride] = from[checked(places[i], length, "mudnn::GatherX") * line[2].stride];
    });
  });
}

}  // namespace
}  // namespace emulation

Status GatherX::SetAxis(int axis) {
  axis_ = axis;
  return Status::SUCCESS;
}
Status GatherX::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}

Status GatherX::Run(Handle& handle, Tensor& out_tensor, const Tensor& index_tensor, const Tensor& self_tensor) const {
  using namespace emulation;
  return run(handle, "mudnn::GatherX", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), index = call.view(index_tensor, "index"), self = call.view(self_tensor, "self");
    require_index(index);
    require_dim(axis_, self);
    require_type(out, self.type, "out and self differ in their types");
    if (mode_ == Mode::GATHER_ELEMENTS) {
      require(out.same_sizes(index) && out.rank == self.rank, "out and index differ in their sizes, or self in its rank");
      for (int d = 0; d < self.rank; ++d)
        require(d == axis_ || out.sizes[d] <= self.sizes[d], "index is larger than self beside the axis");
      if (out.elements() > 0) call.launch([=, axis = axis_] { gather_elements(out, index, self, axis); });
      return;
    }
    require(out.rank == self.rank + index.rank - 1, "out has self's dimensions with the index's in place of the axis");
    for (int d = 0; d < out.rank; ++d)
      require(out.sizes[d] == (d < axis_ ? self.sizes[d] : d < axis_ + index.rank ? index.sizes[d - axis_] : self.sizes[d - index.rank + 1]),
              "out has self's sizes with the index's in place of the axis");
    if (out.elements() > 0) call.launch([=, axis = axis_] { gather_slices(out, index, self, axis); });
  });
}

}  // namespace musa::dnn
