// SPDX-License-Identifier: Apache-2.0
// Reduce. Floating-point numbers are added up in double, integers exactly (they wrap).
#include <csignal>

#include "arithmetic.h"
#include "emulation/quirks.h"
#include "fold.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {
namespace {

using Mode = Reduce::Mode;

template <class Visit>
void with_accumulator(Tensor::Type type, Visit&& visit) {
  if (is_float(type)) return visit(double{});
  if (type == Tensor::Type::UINT64) return visit(uint64_t{});
  visit(int64_t{});
}

// A folder whose state is one number: step(state, number), then last(state).
template <class T, class Step, class Last>
struct Simple {
  using Number = T;
  Tensor::Type type;
  T first;
  Step step;
  Last last;
  T start() const { return first; }
  void add(T& state, T number, int64_t) const { state = step(state, number); }
  void finish(T state, char* out, char*) const {
    state = last(state);
    store(type, out, 1, &state, 1);
  }
};

template <class T, class Step, class Last>
void simple(const Split& split, T first, Step step, Last last) {
  Simple<T, Step, Last> folder{split.out.type, first, step, last};
  fold(split, folder);
}

// The first extremum and its place; a NaN is one.
template <class T>
struct Extremum {
  using Number = T;
  struct State {
    T best;
    int64_t place;
  };
  bool largest;
  const View* values;   // or null
  const View* indices;  // or null
  State start() const { return {T(0), -1}; }
  void add(State& state, T number, int64_t index) const {
    if (state.place >= 0) {
      if (state.best != state.best) return;
      if (number == number && !(largest ? number > state.best : number < state.best)) return;
    }
    state = {number, index};
  }
  void finish(const State& state, char* first, char* second) const {
    if (values) store(values->type, first, 1, &state.best, 1);
    if (indices) store(indices->type, values ? second : first, 1, &state.place, 1);
  }
};

// Sum of squares of differences from the mean, by Welford's recurrence.
struct Spread {
  using Number = double;
  struct State {
    double mean, squares;
    int64_t count;
  };
  Tensor::Type type;
  double correction;
  bool root;
  State start() const { return {0, 0, 0}; }
  void add(State& state, double number, int64_t) const {
    const double delta = number - state.mean;
    state.mean += delta / static_cast<double>(++state.count);
    state.squares += delta * (number - state.mean);
  }
  void finish(const State& state, char* out, char*) const {
    const double divisor = std::max(0.0, static_cast<double>(state.count) - correction);
    double value = state.count ? state.squares / divisor : std::numeric_limits<double>::quiet_NaN();
    if (root) value = std::sqrt(value);
    store(type, out, 1, &value, 1);
  }
};

void norm(const Split& split, double order) {
  const auto same = [](double s) { return s; };
  const double inf = std::numeric_limits<double>::infinity();
  if (order == 0) return simple(split, 0.0, [](double s, double x) { return s + (x != 0); }, same);
  if (order == 1) return simple(split, 0.0, [](double s, double x) { return s + std::fabs(x); }, same);
  if (order == 2) return simple(split, 0.0, [](double s, double x) { return s + x * x; }, [](double s) { return std::sqrt(s); });
  if (order == inf) return simple(split, 0.0, [](double s, double x) { return maximum(s, std::fabs(x)); }, same);
  if (order == -inf) return simple(split, inf, [](double s, double x) { return minimum(s, std::fabs(x)); }, same);
  simple(split, 0.0, [=](double s, double x) { return s + std::pow(std::fabs(x), order); },
         [=](double s) { return std::pow(s, 1 / order); });
}

void reduce(Mode mode, const Split& split, float order, int correction, int64_t count) {
  with_accumulator(split.kept.type, [&](auto tag) {
    using T = decltype(tag);
    const auto same = [](T s) { return s; };
    switch (mode) {
      case Mode::ADD: return simple(split, T(0), [](T s, T x) { return add(s, x); }, same);
      case Mode::PROD: return simple(split, T(1), [](T s, T x) { return multiply(s, x); }, same);
      case Mode::AND: return simple(split, T(1), [](T s, T x) { return T(s != 0 && x != 0); }, same);
      case Mode::OR: return simple(split, T(0), [](T s, T x) { return T(s != 0 || x != 0); }, same);
      case Mode::MAX: case Mode::MIN: {
        Extremum<T> folder{mode == Mode::MAX, &split.out, nullptr};
        return fold(split, folder);
      }
      default: break;
    }
    if constexpr (kReal<T>) {
      if (mode == Mode::NORM) return norm(split, order);
      if (mode == Mode::MEAN)
        return simple(split, T(0), [](T s, T x) { return s + x; }, [=](T s) { return s / static_cast<T>(count); });
      Spread folder{split.out.type, static_cast<double>(correction), mode == Mode::STD};
      fold(split, folder);
    }
  });
}

// Splits `in`, and gives the results' views the kept sizes: they have the reduced dimensions with size 1, or not at all.
Split split_up(const View& in, const std::vector<int>& dims, const View& out, const View& second) {
  std::array<bool, kMaxRank> gone{};
  for (int dim : dims) {
    require_dim(dim, in);
    require(!gone[dim], "a dimension is reduced twice");
    gone[dim] = true;
  }
  Split split;
  split.kept = split.reduced = in;
  split.kept.rank = split.reduced.rank = 0;
  for (int d = 0; d < in.rank; ++d) {
    View& part = gone[d] ? split.reduced : split.kept;
    part.sizes[part.rank] = in.sizes[d];
    part.strides[part.rank++] = in.strides[d];
  }
  const int kept = split.kept.rank;
  for (View* part : {&split.kept, &split.reduced})
    if (part->rank == 0) {
      part->rank = 1;
      part->sizes[0] = 1;
      part->strides[0] = 0;
    }
  const auto align = [&](View result) {
    if (!result) return result;
    View aligned = result;
    aligned.rank = 0;
    if (result.rank == in.rank && kept != in.rank) {
      for (int d = 0; d < in.rank; ++d) {
        if (gone[d]) {
          require(result.sizes[d] == 1, "a reduced dimension of the result has size 1");
          continue;
        }
        aligned.sizes[aligned.rank] = result.sizes[d];
        aligned.strides[aligned.rank++] = result.strides[d];
      }
    } else {
      aligned = result;
    }
    if (aligned.rank == 0) {
      aligned.rank = 1;
      aligned.sizes[0] = 1;
      aligned.strides[0] = 0;
    }
    require(aligned.same_sizes(split.kept), "the result's sizes are not those of the kept dimensions");
    return aligned;
  };
  split.out = align(out);
  split.second = align(second);
  return split;
}

// mudnn v3300 on a broadcast of one element: more than one dimension raises SIGFPE, and one can leave all results but the
// first unwritten.
void broadcast_quirk(const View& in, size_t dims, Split& split) {
  if (in.elements() < 2) return;
  for (int d = 0; d < in.rank; ++d)
    if (in.sizes[d] > 1 && in.strides[d] != 0) return;
  if (!::emulation::quirk("reduce_broadcast")) return;
  if (dims > 1) std::raise(SIGFPE);
  for (View* view : {&split.kept, &split.out, &split.second})
    for (int d = 0; d < view->rank; ++d) view->sizes[d] = 1;
}

int64_t workspace_bytes(const View& in) { return 8 * ((in.elements() + 1023) / 1024); }

}  // namespace
}  // namespace emulation

Status Reduce::SetMode(Mode mode) {
  mode_ = mode;
  return Status::SUCCESS;
}
Status Reduce::SetDim(int count, const int* dims) {
  if (count <= 0 || !dims) return Status::INVALID_PARAMETER;
  dims_.assign(dims, dims + count);
  return Status::SUCCESS;
}
Status Reduce::SetDim(std::initializer_list<int> dims) { return SetDim(static_cast<int>(dims.size()), dims.begin()); }
Status Reduce::SetNormOrd(float order) {
  order_ = order;
  return Status::SUCCESS;
}
Status Reduce::SetCorrection(int correction) {
  correction_ = correction;
  return Status::SUCCESS;
}

Status Reduce::Run(Handle& handle, Tensor& out_tensor, const Tensor& in_tensor, const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Reduce", [&](class Run& call) {
    const View out = call.view(out_tensor, "out"), in = call.view(in_tensor, "in");
    require(!dims_.empty(), "SetDim was not called");
    Split split = split_up(in, dims_, out, {});
    if (mode_ == Mode::AND || mode_ == Mode::OR) {
      require_type(out, Tensor::Type::BOOL, "AND and OR give BOOL");
    } else {
      require_type(out, in.type, "out and in differ in their types");
      require(in.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
    }
    if (mode_ == Mode::MEAN || mode_ == Mode::NORM || mode_ == Mode::STD || mode_ == Mode::VARIANCE) require_float(in);
    if (mode_ == Mode::MAX || mode_ == Mode::MIN)
      require(in.elements() > 0 || out.elements() == 0, "nothing has no maximum or minimum");
    if (out.elements() == 0) return;
    broadcast_quirk(in, dims_.size(), split);
    call.workspace(memory, workspace_bytes(in));
    call.launch([=, mode = mode_, order = order_, correction = correction_] {
      reduce(mode, split, order, correction, split.reduced.elements());
    });
  });
}

Status Reduce::RunIndices(Handle& handle, Tensor& indices_tensor, const Tensor& in_tensor, const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Reduce", [&](class Run& call) {
    const View indices = call.view(indices_tensor, "indices"), in = call.view(in_tensor, "in");
    require(dims_.size() == 1, "indices are along one dimension");
    require(mode_ == Mode::MAX || mode_ == Mode::MIN, "only MAX and MIN have indices", Status::NOT_SUPPORTED);
    require(in.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
    require(indices.type == Tensor::Type::INT64 || indices.type == Tensor::Type::INT32, "indices are INT64 or INT32", Status::NOT_SUPPORTED);
    Split split = split_up(in, dims_, indices, {});
    if (indices.elements() == 0) return;
    require(in.elements() > 0, "nothing has no maximum or minimum");
    broadcast_quirk(in, 1, split);
    call.workspace(memory, workspace_bytes(in));
    call.launch([=, largest = mode_ == Mode::MAX] {
      with_accumulator(in.type, [&](auto tag) {
        Extremum<decltype(tag)> folder{largest, nullptr, &indices};
        fold(split, folder);
      });
    });
  });
}

Status Reduce::RunWithIndices(Handle& handle, Tensor& values_tensor, Tensor& indices_tensor, const Tensor& in_tensor,
                              const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Reduce", [&](class Run& call) {
    const View values = call.view(values_tensor, "values"), indices = call.view(indices_tensor, "indices"), in = call.view(in_tensor, "in");
    require(dims_.size() == 1, "indices are along one dimension");
    require(mode_ == Mode::MAX || mode_ == Mode::MIN, "only MAX and MIN have indices", Status::NOT_SUPPORTED);
    require(in.type != Tensor::Type::BOOL, "arithmetic is not for BOOL", Status::NOT_SUPPORTED);
    require_type(values, in.type, "values and in differ in their types");
    require(indices.type == Tensor::Type::INT64 || indices.type == Tensor::Type::INT32, "indices are INT64 or INT32", Status::NOT_SUPPORTED);
    Split split = split_up(in, dims_, values, indices);
    if (values.elements() == 0) return;
    require(in.elements() > 0, "nothing has no maximum or minimum");
    broadcast_quirk(in, 1, split);
    call.workspace(memory, workspace_bytes(in));
    call.launch([=, largest = mode_ == Mode::MAX] {
      with_accumulator(in.type, [&](auto tag) {
        Extremum<decltype(tag)> folder{largest, &values, &indices};
        fold(split, folder);
      });
    });
  });
}

}  // namespace musa::dnn
