// SPDX-License-Identifier: Apache-2.0
// Sort and TopK. Both are stable, whatever was asked for.
#include <algorithm>
#include <numeric>

#include "lines.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

template <class T>
bool less(T a, T b) {  // NaN is the largest number
  return a < b || (a == a && b != b);
}

// The first `values.length` elements of the line in their order.
void order_lines(const View& values, const View& indices, const View& in, int dim, bool descending) {
  with_compute(in.type, [&](auto tag) {
    using T = decltype(tag);
    std::vector<T> numbers, sorted;
    std::vector<int64_t> places;
    each_line<3>({in, values, indices}, dim, [&](const std::array<Line, 3>& line) {
      line[0].read(numbers);
      places.resize(numbers.size());
      std::iota(places.begin(), places.end(), int64_t{0});
      std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
        return descending ? less(numbers[b], numbers[a]) : less(numbers[a], numbers[b]);
      });
      places.resize(line[1].length);
      sorted.resize(line[1].length);
      for (size_t i = 0; i < places.size(); ++i) sorted[i] = numbers[places[i]];
      line[1].write(sorted);
      line[2].write(places);
    });
  });
}

void check(const View& values, const View& indices, const View& in, int dim) {
  require_dim(dim, in);
  require_type(values, in.type, "values and in differ in their types");
  require(indices.type == Tensor::Type::INT64 || indices.type == Tensor::Type::INT32, "indices are INT64 or INT32", Status::NOT_SUPPORTED);
  require(same_but(dim, values, in) && values.same_sizes(indices), "values and indices do not have in's sizes");
}

}  // namespace
}  // namespace emulation

Status Sort::SetDim(int dim) {
  dim_ = dim;
  return Status::SUCCESS;
}
Status Sort::SetDescending(bool descending) {
  descending_ = descending;
  return Status::SUCCESS;
}
Status Sort::SetStable(bool stable) {
  stable_ = stable;
  return Status::SUCCESS;
}

Status Sort::Run(Handle& handle, Tensor& values_tensor, Tensor& indices_tensor, const Tensor& in_tensor,
                 const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Sort", [&](class Run& call) {
    const View values = call.view(values_tensor, "values"), indices = call.view(indices_tensor, "indices"), in = call.view(in_tensor, "in");
    check(values, indices, in, dim_);
    require(values.same_sizes(in), "values and in differ in their sizes");
    if (in.elements() == 0) return;
    call.workspace(memory, in.elements() * (in.element_bytes() + 8));
    call.launch([=, dim = dim_, descending = descending_] { order_lines(values, indices, in, dim, descending); });
  });
}

Status TopK::SetK(int k) {
  k_ = k;
  return Status::SUCCESS;
}
Status TopK::SetDim(int dim) {
  dim_ = dim;
  return Status::SUCCESS;
}
Status TopK::SetLargest(bool largest) {
  largest_ = largest;
  return Status::SUCCESS;
}
Status TopK::SetSorted(bool sorted) {
  sorted_ = sorted;
  return Status::SUCCESS;
}

Status TopK::Run(Handle& handle, Tensor& values_tensor, Tensor& indices_tensor, const Tensor& in_tensor,
                 const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::TopK", [&](class Run& call) {
    const View values = call.view(values_tensor, "values"), indices = call.view(indices_tensor, "indices"), in = call.view(in_tensor, "in");
    check(values, indices, in, dim_);
    require(k_ >= 0 && k_ <= in.sizes[dim_] && values.sizes[dim_] == k_, "k is not the size of the results along the dimension");
    if (values.elements() == 0) return;
    call.workspace(memory, in.elements() * (in.element_bytes() + 8));
    call.launch([=, dim = dim_, largest = largest_] { order_lines(values, indices, in, dim, largest); });
  });
}

}  // namespace musa::dnn
