// SPDX-License-Identifier: Apache-2.0
// mudnn_nn.h: softmax, convolution, pooling, dropout, normalisations and attention (see mudnn.h).
// Order and numbers of all enumerators are a guess.
#pragma once

#include "mudnn_base.h"

namespace musa {
namespace dnn {

class MUDNN_API Softmax {
 public:
  enum class Mode { SOFTMAX, LOGSOFTMAX, LOGSUMEXP };
  enum class Algorithm { DIRECT, ACCURATE };  // DIRECT: guess
  Status SetDim(int dim);
  Status SetMode(Mode mode);
  Status SetAlgorithm(Algorithm algorithm);
  Status Run(Handle& handle, Tensor& out, const Tensor& in) const;
  Status RunBwd(Handle& handle, Tensor& grad_in, const Tensor& out, const Tensor& grad_out,
                const MemoryMaintainer& memory = nullptr) const;

 private:
  int dim_ = 0;
  Mode mode_ = Mode::SOFTMAX;
};

// Two spatial dimensions, NCHW or NHWC (weights likewise); sizes are given in the order of the format.
class MUDNN_API Convolution {
 public:
  enum class ComputeMode { TENSOR, SCALAR, ALL };
  enum class Algorithm { IMPLICIT_GEMM, GEMM, DIRECT, WINOGRAD_NONFUSED };
  enum class AlgorithmBwdData { IMPLICIT_GEMM, GEMM, DIRECT, WINOGRAD_NONFUSED };
  enum class AlgorithmBwdFilter { IMPLICIT_GEMM, GEMM, DIRECT, WINOGRAD_NONFUSED };

  class MUDNN_API FusedActivationDesc {
   public:
    enum class Mode { IDENTITY, RELU };  // more exist; RELU: guess
    Status SetMode(Mode mode);

   private:
    friend class Convolution;
    Mode mode_ = Mode::IDENTITY;
  };

  Status SetNdInfo(int count, const int* pad, const int* stride, const int* dilation);
  Status SetNdInfo(std::initializer_list<int> pad, std::initializer_list<int> stride, std::initializer_list<int> dilation);
  Status SetGroups(int groups);
  Status SetComputeMode(ComputeMode mode);

  // Names an algorithm that is fast where it runs at all: Run may still refuse it with NOT_SUPPORTED.
  Status GetRecommendForwardAlgorithm(Handle& handle, Algorithm& algorithm, const Tensor& out, const Tensor& in,
                                      const Tensor& weight) const;
  Status GetRecommendBackwardDataAlgorithm(Handle& handle, AlgorithmBwdData& algorithm, const Tensor& grad_in,
                                           const Tensor& grad_out, const Tensor& weight) const;
  Status GetRecommendBackwardFilterAlgorithm(Handle& handle, AlgorithmBwdFilter& algorithm, const Tensor& grad_weight,
                                             const Tensor& in, const Tensor& grad_out) const;
  Status GetForwardWorkspaceSize(Handle& handle, size_t& bytes, const Tensor& out, const Tensor& in, const Tensor& weight,
                                 Algorithm algorithm) const;

  Status Run(Handle& handle, Tensor& out, const Tensor& in, const Tensor& weight, Algorithm algorithm,
             const MemoryMaintainer& memory) const;
  Status RunBwdData(Handle& handle, Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                    AlgorithmBwdData algorithm, const MemoryMaintainer& memory) const;
  Status RunBwdFilter(Handle& handle, Tensor& grad_weight, const Tensor& in, const Tensor& grad_out,
                      AlgorithmBwdFilter algorithm, const MemoryMaintainer& memory) const;
  // activation(conv + bias + add); bias and add may be empty Tensors. Only without groups.
  Status RunFusion(Handle& handle, Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
                   const Tensor& add, const FusedActivationDesc& activation, Algorithm algorithm,
                   const MemoryMaintainer& memory) const;

 private:
  std::vector<int> pad_, stride_, dilation_;
  int groups_ = 1;
};

// Two spatial dimensions, NCHW. Indices (INT64 or INT32) are places in the input's plane, as PyTorch's.
class MUDNN_API Pooling {
 public:
  enum class Mode {
    MAXPOOL,
    AVGPOOL_COUNT_PAD,
    AVGPOOL_COUNT_WITHOUT_PAD,
    GLOBAL_AVGPOOL,
    ADAPTIVE_AVGPOOL,
    ADAPTIVE_MAXPOOL,
  };
  Status SetMode(Mode mode);
  Status SetNdInfo(int count, const int* kernel, const int* pad, const int* stride, const int* dilation);
  Status SetNdInfo(std::initializer_list<int> kernel, std::initializer_list<int> pad, std::initializer_list<int> stride,
                   std::initializer_list<int> dilation);
  Status SetDivisor(int divisor);
  Status Run(Handle& handle, Tensor& out, const Tensor& in, Tensor& indices) const;
  Status RunBwd(Handle& handle, Tensor& grad_in, const Tensor& grad_out, const Tensor& indices) const;

 private:
  Mode mode_ = Mode::MAXPOOL;
  std::vector<int> kernel_, pad_, stride_, dilation_;
  int divisor_ = 0;
};

// out = in * mask * scale; mask is BOOL, true where kept. Philox of (seed, offset): guess which numbers.
class MUDNN_API Dropout {
 public:
  Status SetP(double p);
  Status SetScale(double scale);
  Status SetSeed(uint64_t seed);
  Status SetOffset(uint64_t offset);
  Status RunDropout(Handle& handle, Tensor& out, const Tensor& in, Tensor& mask) const;
  Status RunDropoutBwd(Handle& handle, Tensor& grad_in, const Tensor& grad_out, const Tensor& mask) const;

 private:
  double p_ = 0.5, scale_ = 2;
  uint64_t seed_ = 0, offset_ = 0;
};

// Over the axes of SetAxis; weight and bias may be empty Tensors. mean, rstd: FLOAT, or the input's type.
class MUDNN_API LayerNorm {
 public:
  enum class VarMode { DIRECT, WELFORD };
  Status SetAxis(size_t count, const int* axes);
  Status SetEpsilon(double epsilon);
  Status SetVarMode(VarMode mode);
  Status Run(Handle& handle, Tensor& out, Tensor& mean, Tensor& rstd, const Tensor& in, const Tensor& weight,
             const Tensor& bias, const MemoryMaintainer& memory = nullptr) const;
  // grad_in, grad_weight and grad_bias may be empty Tensors.
  Status RunBwd(Handle& handle, Tensor& grad_in, Tensor& grad_weight, Tensor& grad_bias, const Tensor& grad_out,
                const Tensor& in, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                const MemoryMaintainer& memory) const;

 private:
  std::vector<int> axes_;
  double epsilon_ = 1e-5;
};

class MUDNN_API RMSNorm {
 public:
  Status SetAxis(size_t count, const int* axes);
  Status SetEpsilon(double epsilon);
  Status Run(Handle& handle, Tensor& out, Tensor& rstd, const Tensor& in, const Tensor& weight) const;

 private:
  std::vector<int> axes_;
  double epsilon_ = 1e-5;
};

// Channels along the axis of SetAxis (1), in groups; mean and rstd have one number for each sample and group.
class MUDNN_API GroupNorm {
 public:
  Status SetAxis(int axis);
  Status SetGroup(int groups);
  Status SetEpsilon(double epsilon);
  Status Run(Handle& handle, Tensor& out, Tensor& mean, Tensor& rstd, const Tensor& in, const Tensor& weight,
             const Tensor& bias) const;

 private:
  int axis_ = 1, groups_ = 1;
  double epsilon_ = 1e-5;
};

// Channels along dimension 1 (the last one with NHWC).
class MUDNN_API BatchNorm {
 public:
  enum class Mode { PER_CHANNEL, PER_ACTIVATION };
  Status SetMode(Mode mode);
  Status SetEpsilon(double epsilon);
  Status SetTraining(bool training);
  // Normalises with the given mean and variance.
  Status RunPure(Handle& handle, Tensor& out, const Tensor& in, const Tensor& mean, const Tensor& variance,
                 const Tensor& weight, const Tensor& bias) const;
  // Normalises with the batch's statistics, which it writes as (mean, 1 / sqrt(variance + epsilon)), and moves the running
  // ones (may be empty): running = (1 - momentum) * running + momentum * batch, the variance unbiased.
  Status RunComposite(Handle& handle, Tensor& out, const Tensor& in, Tensor& running_mean, Tensor& running_variance,
                      Tensor& mean, Tensor& invstd, const Tensor& weight, const Tensor& bias, double momentum,
                      const MemoryMaintainer& memory = nullptr) const;
  // With SetTraining(true) mean and invstd are the saved ones of RunComposite. grad_mean, grad_variance: left alone (guess).
  Status RunBwd(Handle& handle, Tensor& grad_in, Tensor& grad_mean, Tensor& grad_variance, Tensor& grad_weight,
                Tensor& grad_bias, const Tensor& in, const Tensor& grad_out, const Tensor& mean, const Tensor& invstd,
                const Tensor& weight, const MemoryMaintainer& memory = nullptr) const;

 private:
  double epsilon_ = 1e-5;
  bool training_ = false;
};

// (batch, heads, length, features) for query, key and value; fewer key heads repeat (grouped queries).
// The mask may be empty; BOOL: true is attended to; else it is added to the scores. It has the sizes of the scores, 1 for any
// that repeats, or, with SetMaskMode(true), (batch, key length): padding. Dropout is refused (NOT_SUPPORTED) so far.
class MUDNN_API ScaledDotProductAttention {
 public:
  enum class ComputeMode { TENSOR, SCALAR, ALL };
  Status SetComputeMode(ComputeMode mode);
  Status SetEmbedDim(int features);  // heads * features of one head
  Status SetHeadsNum(int heads);
  Status SetBatchSize(int batch);
  Status SetCausal(bool causal);
  Status SetTraining(bool training);
  Status SetScale(double scale);  // else 1 / sqrt(features of one head)
  Status SetDropoutP(double p);
  Status SetMaskMode(bool padding);
  Status SetMaxSeqlenQ(int length);
  Status SetMaxSeqlenK(int length);

  // log_sum_exp: FLOAT (batch, heads, length), natural logarithm.
  Status RunFlash(Handle& handle, Tensor& out, Tensor& log_sum_exp, const Tensor& query, const Tensor& key,
                  const Tensor& value, const Tensor& mask, Tensor& dropout_mask, const MemoryMaintainer& memory) const;
  Status RunFlashBwd(Handle& handle, Tensor& grad_query, Tensor& grad_key, Tensor& grad_value, const Tensor& grad_out,
                     const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, const Tensor& out,
                     const Tensor& log_sum_exp, const Tensor& dropout_mask, const MemoryMaintainer& memory) const;
  // weights: (batch, heads, length, key length), the softmax of the scores. grad_weights: the gradient of the scores (guess).
  Status RunMath(Handle& handle, Tensor& out, Tensor& weights, const Tensor& query, const Tensor& key, const Tensor& value,
                 const Tensor& mask, Tensor& dropout_mask, const MemoryMaintainer& memory) const;
  Status RunMathBwd(Handle& handle, Tensor& grad_query, Tensor& grad_key, Tensor& grad_value, Tensor& grad_weights,
                    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Tensor& weights, const Tensor& dropout_mask, const MemoryMaintainer& memory) const;

 private:
  int embed_ = 0, heads_ = 0;
  bool causal_ = false, padding_ = false, has_scale_ = false;
  double scale_ = 0, dropout_ = 0;
};

}  // namespace dnn
}  // namespace musa
