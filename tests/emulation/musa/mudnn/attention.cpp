// SPDX-License-Identifier: Apache-2.0
#include "attention.h"

#include <cmath>
#include <limits>

#include "dense.h"
#include "gemm.h"

namespace musa::dnn::emulation {
namespace {

using Matrix = std::vector<double>;

Matrix transpose(const double* from, int64_t rows, int64_t columns) {
  Matrix result(rows * columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) result[c * rows + r] = from[r * columns + c];
  return result;
}
Matrix product(int64_t m, int64_t n, int64_t k, const double* a, const double* b) {
  Matrix result(m * n);
  gemm(m, n, k, a, b, result.data());
  return result;
}

// The softmax of one head's scores, and the logarithm of each row's sum. A row that sees nothing has weights of 0.
Matrix weights_of(const Attention& a, const double* query, const double* key, const View& mask, double* log_sum_exp) {
  const int64_t length = a.query.sizes[2], keys = a.key.sizes[2], features = a.query.sizes[3];
  Matrix scores = product(length, keys, features, query, transpose(key, keys, features).data());
  const Matrix added = dense<double>(mask);
  const double hidden = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < length; ++i) {
    double* row = scores.data() + i * keys;
    double largest = hidden;
    for (int64_t j = 0; j < keys; ++j) {
      row[j] *= a.scale;
      if (!added.empty()) {
        const double m = added[i * keys + j];
        if (mask.type == Tensor::Type::BOOL) row[j] = m != 0 ? row[j] : hidden;
        else row[j] += m;
      }
      if (a.causal && j > i) row[j] = hidden;
      largest = std::max(largest, row[j]);
    }
    double sum = 0;
    for (int64_t j = 0; j < keys; ++j) sum += row[j] = largest == hidden ? 0 : std::exp(row[j] - largest);
    for (int64_t j = 0; j < keys; ++j) row[j] = sum > 0 ? row[j] / sum : sum;
    log_sum_exp[i] = sum > 0 ? largest + std::log(sum) : hidden;
  }
  return scores;
}

View head_of(const View& view, int64_t batch, int64_t head) { return view ? view.select(0, batch).select(0, head) : view; }

}  // namespace

void forward(const Attention& a, const View& out, const View& weights, const View& log_sum_exp) {
  const int64_t length = a.query.sizes[2], keys = a.key.sizes[2], width = a.value.sizes[3];
  for (int64_t b = 0; b < a.batch(); ++b)
    for (int64_t h = 0; h < a.heads(); ++h) {
      const Matrix q = dense<double>(head_of(a.query, b, h)), k = dense<double>(head_of(a.key, b, h / a.shared())),
                   v = dense<double>(head_of(a.value, b, h / a.shared()));
      Matrix sums(length);
      const Matrix p = weights_of(a, q.data(), k.data(), head_of(a.mask, b, h), sums.data());
      write(head_of(out, b, h), product(length, width, keys, p.data(), v.data()));
      write(head_of(weights, b, h), p);
      write(head_of(log_sum_exp, b, h), sums);
    }
}

void backward(const Attention& a, const AttentionGradient& g) {
  const int64_t length = a.query.sizes[2], keys = a.key.sizes[2], features = a.query.sizes[3], width = a.value.sizes[3];
  for (int64_t b = 0; b < a.batch(); ++b) {
    Matrix grad_key, grad_value;  // summed over the query heads that share a key head
    for (int64_t h = 0; h < a.heads(); ++h) {
      const int64_t shared = h / a.shared();
      const Matrix q = dense<double>(head_of(a.query, b, h)), k = dense<double>(head_of(a.key, b, shared)),
                   v = dense<double>(head_of(a.value, b, shared)), grad_out = dense<double>(head_of(g.out, b, h));
      Matrix sums(length);
      const Matrix p = g.weights ? dense<double>(head_of(g.weights, b, h))
                                 : weights_of(a, q.data(), k.data(), head_of(a.mask, b, h), sums.data());
      Matrix scores = product(length, keys, width, grad_out.data(), transpose(v.data(), keys, width).data());
      for (int64_t i = 0; i < length; ++i) {
        double sum = 0;
        for (int64_t j = i * keys; j < (i + 1) * keys; ++j) sum += scores[j] * p[j];
        for (int64_t j = i * keys; j < (i + 1) * keys; ++j) scores[j] = p[j] * (scores[j] - sum);
      }
      write(head_of(g.scores, b, h), scores);
      for (double& value : scores) value *= a.scale;
      write(head_of(g.query, b, h), product(length, features, keys, scores.data(), k.data()));
      const Matrix dk = product(keys, features, length, transpose(scores.data(), length, keys).data(), q.data());
      const Matrix dv = product(keys, width, length, transpose(p.data(), length, keys).data(), grad_out.data());
      if (h % a.shared() == 0) {
        grad_key.assign(dk.size(), 0);
        grad_value.assign(dv.size(), 0);
      }
      for (size_t i = 0; i < dk.size(); ++i) grad_key[i] += dk[i];
      for (size_t i = 0; i < dv.size(); ++i) grad_value[i] += dv[i];
      if ((h + 1) % a.shared() == 0) {
        write(head_of(g.key, b, shared), grad_key);
        write(head_of(g.value, b, shared), grad_value);
      }
    }
  }
}

}  // namespace musa::dnn::emulation
