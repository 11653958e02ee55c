// SPDX-License-Identifier: Apache-2.0
// mudnn_math.h: element-wise operators, reductions, products, and those that move elements (see mudnn.h).
// Order and numbers of all enumerators are a guess.
#pragma once

#include "mudnn_base.h"

namespace musa {
namespace dnn {

namespace emulation {
// A scalar operand as its setter took it: int64 operators need the integer.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
};
}  // namespace emulation

// out = mode(in), with a scalar second operand in alpha. All operands have out's sizes (strides of 0 broadcast).
// CLIP: alpha = min, beta = max. SOFTPLUS: alpha = beta, beta = threshold. ELU, LEAKY_RELU: alpha = slope.
// EQ .. NE: out is BOOL. IDENTITY copies, CAST converts.
class MUDNN_API Unary {
 public:
  enum class Mode {
    ABS, ACOS, ADD, ATAN, CAST, CEIL, CLIP, COS, ELU, EQ, ERF, EXP, FLOOR, FLOORMOD, GE, GELU, GELU_TANH, GT, HARDSIGMOID,
    HARDSWISH, IDENTITY, IS_INF, IS_NAN, LE, LEAKY_RELU, LOG, LOG10, LOG1P, LOG2, LT, MISH, MUL, NE, POW, RECIPROCAL, RELU,
    ROUND, RSQRT, SIGMOID, SIGN, SILU, SIN, SOFTPLUS, SQRT, SUB, TAN, TANH, TRUEDIV, TRUNCATEDIV, TRUNCATEMOD,
  };
  Status SetMode(Mode mode);
  Status SetAlpha(double alpha);
  Status SetAlpha(int64_t alpha);
  Status SetBeta(double beta);
  Status SetBeta(int64_t beta);
  Status Run(Handle& handle, Tensor& out, const Tensor& in) const;

 private:
  Mode mode_ = Mode::IDENTITY;
  emulation::Scalar alpha_, beta_;
};

// out = mode(a, b). ADD_ALPHA: a + alpha * b; SUB_ALPHA: a - alpha * b. *_BW: a = gradient, b = the forward's input
// (SIGMOID_BW and TANH_BW: its output); THRESHOLD_BW: gradient where b > alpha.
class MUDNN_API Binary {
 public:
  enum class Mode {
    ADD, ADD_ALPHA, SUB_ALPHA, MUL, TRUEDIV, FLOORDIV, FLOORMOD, TRUNCATEMOD, POW, MAX, MIN, EQ, NE, LT, LE, GT, GE,
    LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, GELU_NONE_BW, GELU_TANH_BW, LEAKY_RELU_BW, SIGMOID_BW, SILU_BW, TANH_BW,
    THRESHOLD_BW,
  };
  Status SetMode(Mode mode);
  Status SetAlpha(double alpha);
  Status SetAlpha(int64_t alpha);
  Status SetBeta(double beta);    // guess: no mode above reads it
  Status SetBeta(int64_t beta);
  Status Run(Handle& handle, Tensor& out, const Tensor& a, const Tensor& b) const;

 private:
  Mode mode_ = Mode::ADD;
  emulation::Scalar alpha_{1, 1}, beta_;
};

// SELECT: a (BOOL) ? b : c. ADDCMUL_ALPHA: a + alpha * b * c. ADDCDIV_ALPHA: a + alpha * b / c.
class MUDNN_API Ternary {
 public:
  enum class Mode { SELECT, ADDCMUL_ALPHA, ADDCDIV_ALPHA };
  Status SetMode(Mode mode);
  Status SetAlpha(double alpha);
  Status SetAlpha(int64_t alpha);
  Status Run(Handle& handle, Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c) const;

 private:
  Mode mode_ = Mode::SELECT;
  emulation::Scalar alpha_{1, 1};
};

// Over the dimensions of SetDim; `out` keeps them with size 1, or leaves them out. NORM has an order, STD and VARIANCE
// divide by n - correction. Indices are those of the first maximum or minimum along the one dimension.
class MUDNN_API Reduce {
 public:
  enum class Mode { ADD, AND, OR, MAX, MIN, MEAN, PROD, NORM, STD, VARIANCE };
  Status SetMode(Mode mode);
  Status SetDim(int count, const int* dims);
  Status SetDim(std::initializer_list<int> dims);
  Status SetNormOrd(float order);
  Status SetCorrection(int correction);
  Status Run(Handle& handle, Tensor& out, const Tensor& in, const MemoryMaintainer& memory) const;
  Status RunIndices(Handle& handle, Tensor& indices, const Tensor& in, const MemoryMaintainer& memory) const;
  Status RunWithIndices(Handle& handle, Tensor& values, Tensor& indices, const Tensor& in,
                        const MemoryMaintainer& memory) const;

 private:
  Mode mode_ = Mode::ADD;
  std::vector<int> dims_;
  float order_ = 2;
  int correction_ = 1;  // guess
};

class MUDNN_API MatMulLtParam {};  // guess: no setter was seen

// out = alpha * l @ r + beta * out; with a bias: alpha * l @ r + beta * c + gamma * bias. Defaults 1, 0, 0: guess.
class MUDNN_API MatMul {
 public:
  enum class ComputeMode { TENSOR, SCALAR, ALL };
  Status SetTranspose(bool left, bool right);
  Status SetAlpha(double alpha);
  Status SetBeta(double beta);
  Status SetGamma(double gamma);
  Status SetComputeMode(ComputeMode mode);
  Status Run(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right,
             const MemoryMaintainer& memory = nullptr) const;
  Status RunWithBiasAdd(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right, const Tensor& c,
                        const Tensor& bias, const MemoryMaintainer& memory = nullptr) const;
  Status RunLt(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right, const Tensor& c, const Tensor& bias,
               const MatMulLtParam& param, const MemoryMaintainer& memory = nullptr) const;

 private:
  bool transpose_left_ = false, transpose_right_ = false;
  double alpha_ = 1, beta_ = 0, gamma_ = 0;
};

// As MatMul with one leading batch dimension (RunWithBiasAdd has no c: beta scales the old out).
class MUDNN_API BatchMatMul {
 public:
  enum class ComputeMode { TENSOR, SCALAR, ALL };
  Status SetTranspose(bool left, bool right);
  Status SetAlpha(double alpha);
  Status SetBeta(double beta);
  Status SetGamma(double gamma);
  Status SetComputeMode(ComputeMode mode);
  Status Run(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right,
             const MemoryMaintainer& memory = nullptr) const;
  Status RunWithBiasAdd(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right, const Tensor& bias,
                        const MemoryMaintainer& memory = nullptr) const;
  Status RunLt(Handle& handle, Tensor& out, const Tensor& left, const Tensor& right, const Tensor& c, const Tensor& bias,
               const MatMulLtParam& param, const MemoryMaintainer& memory = nullptr) const;

 private:
  bool transpose_left_ = false, transpose_right_ = false;
  double alpha_ = 1, beta_ = 0, gamma_ = 0;
};

class MUDNN_API Concat {
 public:
  Status SetAxis(int axis);
  Status Run(Handle& handle, Tensor& out, int count, const Tensor* inputs) const;

 private:
  int axis_ = 0;
};

class MUDNN_API Cum {
 public:
  enum class Mode { ADD, MUL };
  Status SetDim(int dim);
  Status SetMode(Mode mode);
  Status Run(Handle& handle, Tensor& out, const Tensor& in, const MemoryMaintainer& memory) const;

 private:
  int dim_ = 0;
  Mode mode_ = Mode::ADD;
};

// With a mask (BOOL) only where it is true.
class MUDNN_API Fill {
 public:
  Status SetValue(double value);
  Status SetValue(int64_t value);
  Status Run(Handle& handle, Tensor& self) const;
  Status Run(Handle& handle, Tensor& self, const Tensor& mask) const;

 private:
  emulation::Scalar value_;
};

// GATHER: out[.., i.., ..] = self[.., index[i..], ..] at the axis. GATHER_ELEMENTS: as torch.gather.
// Index is INT64 or INT32, not negative; one that is out of range fails the stream.
class MUDNN_API GatherX {
 public:
  enum class Mode { GATHER, GATHER_ELEMENTS };
  Status SetAxis(int axis);
  Status SetMode(Mode mode);
  Status Run(Handle& handle, Tensor& out, const Tensor& index, const Tensor& self) const;

 private:
  int axis_ = 0;
  Mode mode_ = Mode::GATHER;
};

// out[.., index[i], ..] = src[i] (UPDATE_ONLY) or += (ADD), along `dim`, as torch.scatter_.
class MUDNN_API Scatter {
 public:
  enum class Mode { UPDATE_ONLY, ADD };
  Status SetMode(Mode mode);
  Status Run(Handle& handle, Tensor& out, const Tensor& index, const Tensor& src, int dim,
             const MemoryMaintainer& memory) const;

 private:
  Mode mode_ = Mode::UPDATE_ONLY;
};

// NaN counts as the largest number, as PyTorch sorts.
class MUDNN_API Sort {
 public:
  Status SetDim(int dim);
  Status SetDescending(bool descending);
  Status SetStable(bool stable);
  Status Run(Handle& handle, Tensor& values, Tensor& indices, const Tensor& in, const MemoryMaintainer& memory) const;

 private:
  int dim_ = 0;
  bool descending_ = false, stable_ = false;
};

class MUDNN_API TopK {
 public:
  Status SetK(int k);
  Status SetDim(int dim);
  Status SetLargest(bool largest);
  Status SetSorted(bool sorted);
  Status Run(Handle& handle, Tensor& values, Tensor& indices, const Tensor& in, const MemoryMaintainer& memory) const;

 private:
  int k_ = 1, dim_ = 0;
  bool largest_ = true, sorted_ = true;
};

// Copies between two layouts of the same sizes; the two Tensors say which.
class MUDNN_API Permute {
 public:
  Status Run(Handle& handle, Tensor& out, const Tensor& in) const;
};

}  // namespace dnn
}  // namespace musa
