// SPDX-License-Identifier: Apache-2.0
// mudnn's classes for ctypes: every operator is a name, a mode, numbers for its setters and tensors in the order of its Run.
#include <mudnn.h>
#include <musa_runtime_api.h>

#include <cstring>
#include <map>
#include <string>

using namespace musa::dnn;

namespace {

struct Numbers {  // what the setters get
  double real[4];
  int64_t integer[4];
  int32_t use_integer;  // alpha and beta, or the value, as integers
  int32_t list[16];
  int32_t count;
};

#define NAMED(Class, name) {#name, Class::Mode::name}
const std::map<std::string, Unary::Mode> kUnary = {
#define U(name) NAMED(Unary, name)
    U(ABS),         U(ACOS),      U(ADD),      U(ATAN),        U(CAST),       U(CEIL), U(CLIP),       U(COS),        U(ELU),
    U(EQ),          U(ERF),       U(EXP),      U(FLOOR),       U(FLOORMOD),   U(GE),   U(GELU),       U(GELU_TANH),  U(GT),
    U(HARDSIGMOID), U(HARDSWISH), U(IDENTITY), U(IS_INF),      U(IS_NAN),     U(LE),   U(LEAKY_RELU), U(LOG),        U(LOG10),
    U(LOG1P),       U(LOG2),      U(LT),       U(MISH),        U(MUL),        U(NE),   U(POW),        U(RECIPROCAL), U(RELU),
    U(ROUND),       U(RSQRT),     U(SIGMOID),  U(SIGN),        U(SILU),       U(SIN),  U(SOFTPLUS),   U(SQRT),       U(SUB),
    U(TAN),         U(TANH),      U(TRUEDIV),  U(TRUNCATEDIV), U(TRUNCATEMOD)};
const std::map<std::string, Binary::Mode> kBinary = {
#define B(name) NAMED(Binary, name)
    B(ADD),
    B(ADD_ALPHA),
    B(SUB_ALPHA),
    B(MUL),
    B(TRUEDIV),
    B(FLOORDIV),
    B(FLOORMOD),
    B(TRUNCATEMOD),
    B(POW),
    B(MAX),
    B(MIN),
    B(EQ),
    B(NE),
    B(LT),
    B(LE),
    B(GT),
    B(GE),
    B(LOGICAL_AND),
    B(LOGICAL_OR),
    B(LOGICAL_XOR),
    B(GELU_NONE_BW),
    B(GELU_TANH_BW),
    B(LEAKY_RELU_BW),
    B(SIGMOID_BW),
    B(SILU_BW),
    B(TANH_BW),
    B(THRESHOLD_BW)};
const std::map<std::string, Reduce::Mode> kReduce = {
#define R(name) NAMED(Reduce, name)
    R(ADD), R(AND), R(OR), R(MAX), R(MIN), R(MEAN), R(PROD), R(NORM), R(STD), R(VARIANCE)};
const std::map<std::string, Pooling::Mode> kPooling = {
#define P(name) NAMED(Pooling, name)
    P(MAXPOOL),        P(AVGPOOL_COUNT_PAD), P(AVGPOOL_COUNT_WITHOUT_PAD),
    P(GLOBAL_AVGPOOL), P(ADAPTIVE_AVGPOOL),  P(ADAPTIVE_MAXPOOL)};

int64_t asked, given_back;  // workspaces
int refuse_memory, foreign_memory;

MemoryHandler memory(size_t bytes) {
  ++asked;
  void* address = nullptr;
  if (refuse_memory) return MemoryHandler(nullptr, [](void*) {});
  int device = 0;
  musaGetDevice(&device);
  if (foreign_memory) musaSetDevice(1 - device);
  musaMalloc(&address, bytes);
  musaSetDevice(device);
  return MemoryHandler(address, [device](void* memory) {
    ++given_back;
    int current = 0;
    musaGetDevice(&current);
    musaDeviceSynchronize();  // as a caching allocator would not need to: it keeps stream order
    if (foreign_memory) musaSetDevice(1 - device);
    musaFree(memory);
    musaSetDevice(current);
  });
}

}  // namespace

extern "C" {

void* probe_tensor(int type, int format, void* address, int rank, const int64_t* sizes, const int64_t* strides) {
  auto* tensor = new Tensor;
  tensor->SetType(static_cast<Tensor::Type>(type));
  tensor->SetFormat(static_cast<Tensor::Format>(format));
  tensor->SetAddr(address);
  if (rank >= 0 && tensor->SetNdInfo(rank, sizes, strides) != Status::SUCCESS) {
    delete tensor;
    return nullptr;
  }
  return tensor;
}
void probe_free_tensor(void* tensor) { delete static_cast<Tensor*>(tensor); }
void* probe_handle(int device) { return new Handle(device); }
void probe_free_handle(void* handle) { delete static_cast<Handle*>(handle); }
int probe_set_stream(void* handle, void* stream) {
  return static_cast<int>(static_cast<Handle*>(handle)->SetStream(static_cast<musaStream_t>(stream)));
}
void probe_allow_tf32(void* handle, int allow) { static_cast<Handle*>(handle)->SetAllowTF32(allow); }
void probe_memory(int refuse, int foreign, int64_t* counts) {
  refuse_memory = refuse;
  foreign_memory = foreign;
  counts[0] = asked;
  counts[1] = given_back;
}

// -1: no such operator.
int probe_run(void* handle_address, const char* op_name, const char* mode_name, const Numbers* n, void** tensors, int* result) {
  Handle& h = *static_cast<Handle*>(handle_address);
  const std::string op = op_name, mode = mode_name;
  const auto t = [&](int i) -> Tensor& { return *static_cast<Tensor*>(tensors[i]); };
  const auto scalars = [&](auto& object) {
    if (n->use_integer) object.SetAlpha(n->integer[0]);
    else object.SetAlpha(n->real[0]);
  };
  const auto status = [](Status value) { return static_cast<int>(value); };
  if (op == "unary") {
    Unary x;
    x.SetMode(kUnary.at(mode));
    scalars(x);
    if (n->use_integer) x.SetBeta(n->integer[1]);
    else x.SetBeta(n->real[1]);
    return status(x.Run(h, t(0), t(1)));
  }
  if (op == "binary") {
    Binary x;
    x.SetMode(kBinary.at(mode));
    scalars(x);
    return status(x.Run(h, t(0), t(1), t(2)));
  }
  if (op == "ternary") {
    Ternary x;
    x.SetMode(mode == "SELECT"          ? Ternary::Mode::SELECT
              : mode == "ADDCMUL_ALPHA" ? Ternary::Mode::ADDCMUL_ALPHA
                                        : Ternary::Mode::ADDCDIV_ALPHA);
    scalars(x);
    return status(x.Run(h, t(0), t(1), t(2), t(3)));
  }
  if (op == "reduce" || op == "reduce_indices" || op == "reduce_with_indices") {
    Reduce x;
    x.SetMode(kReduce.at(mode));
    x.SetDim(n->count, n->list);
    x.SetNormOrd(static_cast<float>(n->real[0]));
    x.SetCorrection(static_cast<int>(n->integer[0]));
    if (op == "reduce") return status(x.Run(h, t(0), t(1), memory));
    if (op == "reduce_indices") return status(x.RunIndices(h, t(0), t(1), memory));
    return status(x.RunWithIndices(h, t(0), t(1), t(2), memory));
  }
  if (op == "matmul") {
    MatMul x;
    x.SetTranspose(n->list[0], n->list[1]);
    x.SetAlpha(n->real[0]);
    x.SetBeta(n->real[1]);
    x.SetGamma(n->real[2]);
    if (mode == "RUN") return status(x.Run(h, t(0), t(1), t(2), memory));
    if (mode == "BIAS") return status(x.RunWithBiasAdd(h, t(0), t(1), t(2), t(3), t(4), memory));
    return status(x.RunLt(h, t(0), t(1), t(2), t(3), t(4), MatMulLtParam{}, memory));
  }
  if (op == "batch_matmul") {
    BatchMatMul x;
    x.SetTranspose(n->list[0], n->list[1]);
    x.SetAlpha(n->real[0]);
    x.SetBeta(n->real[1]);
    x.SetGamma(n->real[2]);
    if (mode == "RUN") return status(x.Run(h, t(0), t(1), t(2), memory));
    return status(x.RunWithBiasAdd(h, t(0), t(1), t(2), t(3), memory));
  }
  if (op == "softmax" || op == "softmax_backward") {
    Softmax x;
    x.SetDim(n->list[0]);
    x.SetMode(mode == "SOFTMAX"      ? Softmax::Mode::SOFTMAX
              : mode == "LOGSOFTMAX" ? Softmax::Mode::LOGSOFTMAX
                                     : Softmax::Mode::LOGSUMEXP);
    x.SetAlgorithm(Softmax::Algorithm::ACCURATE);
    return status(op == "softmax" ? x.Run(h, t(0), t(1)) : x.RunBwd(h, t(0), t(1), t(2), memory));
  }
  if (op == "convolution") {  // list: pad, stride, dilation (2 each), groups, algorithm
    Convolution x;
    x.SetNdInfo(2, n->list, n->list + 2, n->list + 4);
    x.SetGroups(n->list[6]);
    const auto named = [&](auto& algorithm, Status found) {
      if (result) *result = static_cast<int>(algorithm);
      return status(found);
    };
    auto a = static_cast<Convolution::Algorithm>(n->list[7]);
    auto d = static_cast<Convolution::AlgorithmBwdData>(n->list[7]);
    auto f = static_cast<Convolution::AlgorithmBwdFilter>(n->list[7]);
    if (mode == "RECOMMEND") return named(a, x.GetRecommendForwardAlgorithm(h, a, t(0), t(1), t(2)));
    if (mode == "RECOMMEND_DATA") return named(d, x.GetRecommendBackwardDataAlgorithm(h, d, t(0), t(1), t(2)));
    if (mode == "RECOMMEND_FILTER") return named(f, x.GetRecommendBackwardFilterAlgorithm(h, f, t(0), t(1), t(2)));
    if (mode == "DATA") return status(x.RunBwdData(h, t(0), t(1), t(2), d, memory));
    if (mode == "FILTER") return status(x.RunBwdFilter(h, t(0), t(1), t(2), f, memory));
    if (mode == "RUN") return status(x.Run(h, t(0), t(1), t(2), a, memory));
    Convolution::FusedActivationDesc activation;
    activation.SetMode(mode == "FUSION_RELU" ? Convolution::FusedActivationDesc::Mode::RELU
                                             : Convolution::FusedActivationDesc::Mode::IDENTITY);
    return status(x.RunFusion(h, t(0), t(1), t(2), t(3), t(4), activation, a, memory));
  }
  if (op == "pooling") {  // list: kernel, pad, stride, dilation (2 each), divisor
    Pooling x;
    const bool backward = mode.substr(0, 3) == "BW_";
    x.SetMode(kPooling.at(backward ? mode.substr(3) : mode));
    x.SetNdInfo(2, n->list, n->list + 2, n->list + 4, n->list + 6);
    x.SetDivisor(n->list[8]);
    return status(backward ? x.RunBwd(h, t(0), t(1), t(2)) : x.Run(h, t(0), t(1), t(2)));
  }
  if (op == "dropout") {
    Dropout x;
    x.SetP(n->real[0]);
    x.SetScale(n->real[1]);
    x.SetSeed(static_cast<uint64_t>(n->integer[0]));
    x.SetOffset(static_cast<uint64_t>(n->integer[1]));
    return status(mode == "RUN" ? x.RunDropout(h, t(0), t(1), t(2)) : x.RunDropoutBwd(h, t(0), t(1), t(2)));
  }
  if (op == "layer_norm") {
    LayerNorm x;
    x.SetAxis(n->count, n->list);
    x.SetEpsilon(n->real[0]);
    x.SetVarMode(LayerNorm::VarMode::WELFORD);
    if (mode == "RUN") return status(x.Run(h, t(0), t(1), t(2), t(3), t(4), t(5), memory));
    return status(x.RunBwd(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), memory));
  }
  if (op == "rms_norm") {
    RMSNorm x;
    x.SetAxis(n->count, n->list);
    x.SetEpsilon(n->real[0]);
    return status(x.Run(h, t(0), t(1), t(2), t(3)));
  }
  if (op == "group_norm") {
    GroupNorm x;
    x.SetAxis(1);
    x.SetGroup(n->list[0]);
    x.SetEpsilon(n->real[0]);
    return status(x.Run(h, t(0), t(1), t(2), t(3), t(4), t(5)));
  }
  if (op == "batch_norm") {
    BatchNorm x;
    x.SetEpsilon(n->real[0]);
    x.SetTraining(n->list[0]);
    if (mode == "PURE") return status(x.RunPure(h, t(0), t(1), t(2), t(3), t(4), t(5)));
    if (mode == "COMPOSITE")
      return status(x.RunComposite(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), n->real[1], memory));
    return status(x.RunBwd(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9), memory));
  }
  if (op == "concat") {
    Concat x;
    x.SetAxis(n->list[0]);
    Tensor inputs[8];
    for (int i = 0; i < n->list[1]; ++i) inputs[i] = t(1 + i);
    return status(x.Run(h, t(0), n->list[1], inputs));
  }
  if (op == "permute") return status(Permute{}.Run(h, t(0), t(1)));
  if (op == "cum") {
    Cum x;
    x.SetDim(n->list[0]);
    x.SetMode(mode == "ADD" ? Cum::Mode::ADD : Cum::Mode::MUL);
    return status(x.Run(h, t(0), t(1), memory));
  }
  if (op == "fill") {
    Fill x;
    if (n->use_integer) x.SetValue(n->integer[0]);
    else x.SetValue(n->real[0]);
    return status(mode == "MASK" ? x.Run(h, t(0), t(1)) : x.Run(h, t(0)));
  }
  if (op == "gather") {
    GatherX x;
    x.SetAxis(n->list[0]);
    x.SetMode(mode == "GATHER" ? GatherX::Mode::GATHER : GatherX::Mode::GATHER_ELEMENTS);
    return status(x.Run(h, t(0), t(1), t(2)));
  }
  if (op == "scatter") {
    Scatter x;
    x.SetMode(mode == "ADD" ? Scatter::Mode::ADD : Scatter::Mode::UPDATE_ONLY);
    return status(x.Run(h, t(0), t(1), t(2), n->list[0], memory));
  }
  if (op == "sort") {
    Sort x;
    x.SetDim(n->list[0]);
    x.SetDescending(n->list[1]);
    x.SetStable(true);
    return status(x.Run(h, t(0), t(1), t(2), memory));
  }
  if (op == "topk") {
    TopK x;
    x.SetDim(n->list[0]);
    x.SetK(n->list[1]);
    x.SetLargest(n->list[2]);
    x.SetSorted(true);
    return status(x.Run(h, t(0), t(1), t(2), memory));
  }
  if (op == "attention") {  // list: features, heads, causal, padding
    ScaledDotProductAttention x;
    x.SetEmbedDim(n->list[0]);
    x.SetHeadsNum(n->list[1]);
    x.SetCausal(n->list[2]);
    x.SetMaskMode(n->list[3]);
    if (n->real[0] != 0) x.SetScale(n->real[0]);
    x.SetDropoutP(n->real[1]);
    if (mode == "FLASH") return status(x.RunFlash(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), memory));
    if (mode == "MATH") return status(x.RunMath(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), memory));
    if (mode == "FLASH_BW")
      return status(x.RunFlashBwd(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9), t(10), memory));
    return status(x.RunMathBwd(h, t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9), memory));
  }
  return -1;
}

}  // extern "C"
