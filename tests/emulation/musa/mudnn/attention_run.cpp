// SPDX-License-Identifier: Apache-2.0
// ScaledDotProductAttention: its settings, and what it accepts.
#include <cmath>

#include "attention.h"
#include "run.h"

namespace musa::dnn {
namespace emulation {

// The settings, which the header keeps private.
struct AttentionSettings {
  int embed, heads;
  bool causal, padding, has_scale;
  double scale, dropout;
};

namespace {

Attention attention(const Run& call, const AttentionSettings& s, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Tensor* mask) {
  Attention a{call.view(query, "query"), call.view(key, "key"), call.view(value, "value"), {}, s.causal, s.scale};
  const View &q = a.query, &k = a.key, &v = a.value;
  require_float(q);
  require(q.type == k.type && q.type == v.type, "query, key and value differ in their types", Status::NOT_SUPPORTED);
  require(q.rank == 4 && k.rank == 4 && v.rank == 4, "query, key and value are (batch, heads, length, features)", Status::NOT_SUPPORTED);
  require(q.elements() > 0 && k.elements() > 0 && v.elements() > 0, "attention over nothing", Status::NOT_SUPPORTED);
  require(q.sizes[0] == k.sizes[0] && k.sizes[0] == v.sizes[0] && k.sizes[1] == v.sizes[1] && k.sizes[2] == v.sizes[2] &&
              q.sizes[3] == k.sizes[3] && q.sizes[1] % k.sizes[1] == 0,
          "query, key and value do not fit in their sizes");
  require(s.heads == q.sizes[1], "SetHeadsNum was not called with the query's heads");
  require(s.embed == q.sizes[1] * q.sizes[3] || s.embed == q.sizes[1] * v.sizes[3], "SetEmbedDim was not called with heads x features");
  require(s.dropout == 0, "dropout is not emulated", Status::NOT_SUPPORTED);
  if (!s.has_scale) a.scale = 1 / std::sqrt(static_cast<double>(q.sizes[3]));
  if (!mask) return a;
  a.mask = call.optional(*mask, "mask");
  if (!a.mask) return a;
  require(a.mask.type == Tensor::Type::BOOL || is_float(a.mask.type), "the mask is BOOL or a float", Status::NOT_SUPPORTED);
  View scores = q;
  scores.sizes[3] = k.sizes[2];
  if (s.padding) {
    require(a.mask.rank == 2 && a.mask.sizes[0] == q.sizes[0] && a.mask.sizes[1] == k.sizes[2], "a padding mask is (batch, key length)");
    const View given = a.mask;
    a.mask.rank = 4;
    a.mask.sizes = {given.sizes[0], 1, 1, given.sizes[1]};
    a.mask.strides = {given.strides[0], 0, 0, given.strides[1]};
  }
  require(broadcast(a.mask, scores), "the mask does not broadcast to the scores");
  return a;
}

void require_scores(const View& view, const Attention& a, const char* reason) {
  require(view.rank == 4 && view.sizes[0] == a.batch() && view.sizes[1] == a.heads() && view.sizes[2] == a.query.sizes[2] &&
              view.sizes[3] == a.key.sizes[2],
          reason);
}
void require_out(const View& out, const Attention& a) {
  require(out.rank == 4 && out.type == a.query.type && out.sizes[0] == a.batch() && out.sizes[1] == a.heads() &&
              out.sizes[2] == a.query.sizes[2] && out.sizes[3] == a.value.sizes[3],
          "out is (batch, heads, length, value's features), of query's type");
}

AttentionGradient gradient(const Run& call, const Attention& a, Tensor& query, Tensor& key, Tensor& value, const Tensor& grad_out) {
  AttentionGradient g{call.view(query, "grad_query"), call.view(key, "grad_key"), call.view(value, "grad_value"), {},
                      call.view(grad_out, "grad_out"), {}};
  require(g.query.same_sizes(a.query) && g.key.same_sizes(a.key) && g.value.same_sizes(a.value), "a gradient differs in its sizes");
  require_out(g.out, a);
  return g;
}

}  // namespace
}  // namespace emulation

#define EMULATION_SETTER(Name, type, statement)             \
  Status ScaledDotProductAttention::Name(type value) {      \
    statement;                                              \
    return Status::SUCCESS;                                 \
  }
EMULATION_SETTER(SetComputeMode, ComputeMode, (void)value)
EMULATION_SETTER(SetEmbedDim, int, embed_ = value)
EMULATION_SETTER(SetHeadsNum, int, heads_ = value)
EMULATION_SETTER(SetBatchSize, int, (void)value)
EMULATION_SETTER(SetCausal, bool, causal_ = value)
EMULATION_SETTER(SetTraining, bool, (void)value)
EMULATION_SETTER(SetScale, double, (scale_ = value, has_scale_ = true))
EMULATION_SETTER(SetDropoutP, double, dropout_ = value)
EMULATION_SETTER(SetMaskMode, bool, padding_ = value)
EMULATION_SETTER(SetMaxSeqlenQ, int, (void)value)
EMULATION_SETTER(SetMaxSeqlenK, int, (void)value)
#define EMULATION_SETTINGS {embed_, heads_, causal_, padding_, has_scale_, scale_, dropout_}

Status ScaledDotProductAttention::RunFlash(Handle& handle, Tensor& out_tensor, Tensor& sums_tensor, const Tensor& query,
                                           const Tensor& key, const Tensor& value, const Tensor& mask, Tensor&,
                                           const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::FlashAttention", [&](class Run& call) {
    const Attention a = attention(call, EMULATION_SETTINGS, query, key, value, &mask);
    const View out = call.view(out_tensor, "out"), sums = call.view(sums_tensor, "log_sum_exp");
    require_out(out, a);
    require_type(sums, Tensor::Type::FLOAT, "log_sum_exp is FLOAT");
    require(sums.rank == 3 && sums.sizes[0] == a.batch() && sums.sizes[1] == a.heads() && sums.sizes[2] == a.query.sizes[2],
            "log_sum_exp is (batch, heads, length)");
    call.workspace(memory, sums.elements() * 8);
    call.launch([=] { forward(a, out, {}, sums); });
  });
}

Status ScaledDotProductAttention::RunFlashBwd(Handle& handle, Tensor& grad_query, Tensor& grad_key, Tensor& grad_value,
                                              const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
                                              const Tensor& mask, const Tensor& out_tensor, const Tensor& sums_tensor, const Tensor&,
                                              const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::FlashAttentionBackward", [&](class Run& call) {
    const Attention a = attention(call, EMULATION_SETTINGS, query, key, value, &mask);
    const AttentionGradient g = gradient(call, a, grad_query, grad_key, grad_value, grad_out);
    require_out(call.view(out_tensor, "out"), a);
    call.view(sums_tensor, "log_sum_exp");
    call.workspace(memory, a.query.elements() * 4);
    call.launch([=] { backward(a, g); });
  });
}

Status ScaledDotProductAttention::RunMath(Handle& handle, Tensor& out_tensor, Tensor& weights_tensor, const Tensor& query,
                                          const Tensor& key, const Tensor& value, const Tensor& mask, Tensor&,
                                          const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::Attention", [&](class Run& call) {
    const Attention a = attention(call, EMULATION_SETTINGS, query, key, value, &mask);
    const View out = call.view(out_tensor, "out"), weights = call.view(weights_tensor, "weights");
    require_out(out, a);
    require_scores(weights, a, "weights are (batch, heads, length, key length)");
    call.workspace(memory, weights.elements() * 4);
    call.launch([=] { forward(a, out, weights, {}); });
  });
}

Status ScaledDotProductAttention::RunMathBwd(Handle& handle, Tensor& grad_query, Tensor& grad_key, Tensor& grad_value,
                                             Tensor& grad_weights, const Tensor& grad_out, const Tensor& query, const Tensor& key,
                                             const Tensor& value, const Tensor& weights, const Tensor&,
                                             const MemoryMaintainer& memory) const {
  using namespace emulation;
  return run(handle, "mudnn::AttentionBackward", [&](class Run& call) {
    const Attention a = attention(call, EMULATION_SETTINGS, query, key, value, nullptr);
    AttentionGradient g = gradient(call, a, grad_query, grad_key, grad_value, grad_out);
    g.scores = call.view(grad_weights, "grad_weights");
    g.weights = call.view(weights, "weights");
    require_scores(g.scores, a, "grad_weights are (batch, heads, length, key length)");
    require_scores(g.weights, a, "weights are (batch, heads, length, key length)");
    call.workspace(memory, g.scores.elements() * 4);
    call.launch([=] { backward(a, g); });
  });
}

}  // namespace musa::dnn
