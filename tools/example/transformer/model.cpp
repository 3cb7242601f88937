#include "model.hpp"

#include <cmath>
#include <random>

namespace {

using Matrix = std::vector<double>;

double number(cl_half x) { return static_cast<double>(cl_half_to_float(x)); }

// x * w + y, x of `rows` rows; w is k x n.
Matrix product(const Matrix& x, const clbake::PackedWeights& w, std::size_t k, std::size_t n, Matrix y = {}) {
  const std::vector<float> weights = *clbake::unpack_weights({w.data(), w.size()});
  y.resize(rows * n);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t p = 0; p < k; ++p) {
      for (std::size_t j = 0; j < n; ++j) {
        y[row * n + j] += x[row * k + p] * static_cast<double>(weights[p * n + j]);
      }
    }
  }
  return y;
}

Matrix norm(const Matrix& x, const std::vector<cl_half>& gain) {
  Matrix y(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += x[row * width + i] * x[row * width + i];
    const double factor = 1 / std::sqrt(squares / width + 1e-5);
    for (std::size_t i = 0; i < width; ++i) y[row * width + i] = x[row * width + i] * factor * number(gain[i]);
  }
  return y;
}

Matrix attend(const Matrix& qkv) {
  constexpr std::size_t head = width / heads;
  Matrix y(rows * width);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t first = 0; first < width; first += head) {
      std::vector<double> weights;
      double total = 0;
      for (std::size_t p = 0; p <= row; ++p) {
        double score = 0;
        for (std::size_t i = first; i < first + head; ++i) {
          score += qkv[row * 3 * width + i] * qkv[p * 3 * width + width + i];
        }
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
        total += weights.back();
      }
      for (std::size_t p = 0; p <= row; ++p) {
        for (std::size_t i = first; i < first + head; ++i) {
          y[row * width + i] += weights[p] / total * qkv[p * 3 * width + 2 * width + i];
        }
      }
    }
  }
  return y;
}

Matrix gate(const Matrix& gate_up) {
  Matrix y;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < hidden; ++i) {
      const double x = gate_up[row * 2 * hidden + i];
      y.push_back(x / (1 + std::exp(-x)) * gate_up[row * 2 * hidden + hidden + i]);
    }
  }
  return y;
}

}  // namespace

Model make_model() {
  std::mt19937 random(1);
  const auto draw = [&random](std::size_t count, float mean, float deviation) {
    std::normal_distribution<float> normal(mean, deviation);
    std::vector<float> values(count);
    for (float& x : values) x = normal(random);
    return values;
  };
  const auto weights = [&draw](std::size_t k, std::size_t n) {
    const std::vector<float> floats = draw(k * n, 0, 1 / std::sqrt(static_cast<float>(k)));
    return *clbake::quantize_weights({k, n}, {floats.data(), floats.size()});
  };
  const auto halves = [&draw](std::size_t count, float mean, float deviation) {
    std::vector<cl_half> values;
    for (const float x : draw(count, mean, deviation)) values.push_back(cl_half_from_float(x, CL_HALF_RTE));
    return values;
  };
  Model m{weights(width, 3 * width), weights(width, width),  weights(width, 2 * hidden), weights(hidden, width),
          halves(width, 1, 0.1F),    halves(width, 1, 0.1F), halves(rows * width, 0, 1), {}};
  Matrix x;
  for (const cl_half value : m.input) x.push_back(number(value));
  x = product(attend(product(norm(x, m.gain_1), m.qkv, width, 3 * width)), m.out, width, width, x);
  m.result = product(gate(product(norm(x, m.gain_2), m.gate_up, width, 2 * hidden)), m.down, hidden, width, x);
  return m;
}

double error_of(const Model& model, const std::vector<cl_half>& result) {
  double off = 0, added = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    off += std::pow(number(result[i]) - model.result[i], 2);
    added += std::pow(model.result[i] - number(model.input[i]), 2);
  }
  return std::sqrt(off / added);
}
