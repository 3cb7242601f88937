#include <clbake/builder/gemm_run.hpp>
#include <clbake/builder/tuning.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <sstream>

namespace clbake::builder {
namespace {

// A decimal number from 1 to 2^31 - 1 and nothing else.
std::optional<std::size_t> parse_size(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 10 && text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long long value = digits ? std::strtoull(text.c_str(), nullptr, 10) : 0;
  if (value < 1 || value > INT32_MAX) return std::nullopt;
  return static_cast<std::size_t>(value);
}

bool parse_sizes(const std::string& text, Shape& shape) {
  std::istringstream parts(text);
  std::string part;
  for (std::size_t* size : {&shape.m, &shape.n, &shape.k}) {
    if (!std::getline(parts, part, 'x')) return false;
    const std::optional<std::size_t> value = parse_size(part);
    if (!value) return false;
    *size = *value;
  }
  return parts.eof();
}

bool parse_weight(const std::string& text, Shape& shape) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, shape.weight);
  return error == std::errc() && stop == end && shape.weight >= kLeastWeight && shape.weight <= kMostWeight;
}

double quantile(const std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(std::lround(fraction * static_cast<double>(sorted.size() - 1)))];
}

Status refuse(const std::string& word, const std::string& what) {
  constexpr std::size_t shown = 80;
  return {Code::malformed, (word.empty() ? "no " : "'" + word.substr(0, shown) + "' is no ") + what};
}

// "batch N" and "weight W", each if it is there, in this order.
Status parse_counts(std::istringstream& words, Shape& shape) {
  std::string key, value;
  words >> key;
  if (key == "batch") {
    words >> value;
    const std::optional<std::size_t> products = parse_size(value);
    if (!products) return refuse(value, "batch: a number from 1 to 2147483647");
    shape.batch = *products;
    key.clear(), value.clear();
    words >> key;
  }
  if (key == "weight") {
    words >> value;
    if (!parse_weight(value, shape)) return refuse(value, "weight: a number from 1e-6 to 1e9");
    key.clear();
    words >> key;
  }
  return key.empty() ? Status() : refuse(key, "part of a shape: MxNxK, then 'batch N', then 'weight W'");
}

}  // namespace

bool operator==(const Shape& a, const Shape& b) {
  return a.kind() == b.kind() && a.m == b.m && a.n == b.n && a.k == b.k && a.batch == b.batch;
}

std::string kind_name(const GemmKind& kind) {
  return std::string(clbake::name(kind.precision)) + ' ' + (kind.trans_a ? 't' : 'n') + (kind.trans_b ? 't' : 'n');
}

double gflops(const Shape& shape, double median_us) { return operations(shape) / median_us / 1000; }

bool parse_precision(const std::string& word, GemmKind& kind) {
  const auto find = [&](const auto& precisions) {
    const auto* const known = std::find_if(std::begin(precisions), std::end(precisions),
                                           [&](Precision p) { return word == clbake::name(p); });
    if (known != std::end(precisions)) kind.precision = *known;
    return known != std::end(precisions);
  };
  return find(all_precisions) || find(complex_precisions);
}

bool parse_transposes(const std::string& word, GemmKind& kind) {
  if (word.size() != 2 || word.find_first_not_of("nt") != std::string::npos) return false;
  kind.trans_a = word[0] == 't';
  kind.trans_b = word[1] == 't';
  return true;
}

std::string name(const Shape& shape) {
  std::ostringstream text;
  text << kind_name(shape) << ' ' << shape.m << 'x' << shape.n << 'x' << shape.k;
  if (shape.batch > 1) text << " batch " << shape.batch;
  return text.str();
}

std::string weighted_name(const Shape& shape) {
  if (shape.weight == 1) return name(shape);
  char weight[32];  // the shortest text that is read as the same number
  return name(shape) + " weight " + std::string(weight, std::to_chars(weight, std::end(weight), shape.weight).ptr);
}

Result<Shape> parse_shape(const std::string& text) {
  std::istringstream words(text);
  std::string precision, transposes, sizes;
  words >> precision >> transposes >> sizes;
  Shape shape;
  if (!parse_precision(precision, shape)) return refuse(precision, "precision: " + std::string(precision_names));
  if (!parse_transposes(transposes, shape)) return refuse(transposes, "transposes: nn, nt, tn, tt");
  if (!parse_sizes(sizes, shape)) return refuse(sizes, "size: MxNxK, each from 1 to 2147483647");
  const Status counted = parse_counts(words, shape);
  if (!counted) return counted;
  return shape;
}

Problem problem_of(const Shape& shape) {
  Problem problem = tight_problem(shape.precision, shape.m, shape.n, shape.k, shape.trans_a, shape.trans_b);
  problem.batch = shape.batch;
  if (shape.batch > 1) {
    problem.a_stride = shape.m * shape.k;
    problem.b_stride = shape.k * shape.n;
    problem.c_stride = shape.m * shape.n;
  }
  return problem;
}

double operations(const Shape& shape) {
  return (is_complex(shape.precision) ? 8.0 : 2.0) * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) * static_cast<double>(shape.batch);
}

Shape real_shape(const Shape& shape) {
  if (!is_complex(shape.precision)) return shape;
  Shape real = shape;
  real.precision = real_precision(shape.precision);
  real.n *= 2;
  real.k *= 2;
  return real;
}

std::string shape_class(const Shape& shape) {
  const std::size_t largest = std::max({shape.m, shape.n, shape.k});
  const std::size_t smallest = std::min({shape.m, shape.n, shape.k});
  if (shape.batch > 1) return "batched";
  if (largest <= 128) return "small";
  if (largest <= 4 * smallest) return "square";
  std::string thin;
  for (const auto& [size, letter] : {std::pair{shape.m, 'm'}, std::pair{shape.n, 'n'}, std::pair{shape.k, 'k'}}) {
    if (size <= largest / 8) thin += letter;
  }
  return thin.empty() ? "oblong" : "thin-" + thin;
}

Measurement figures_of(std::vector<double> us, bool final) {
  Measurement m;
  std::sort(us.begin(), us.end());
  m.median_us = median(us);
  m.spread = (quantile(us, 0.75) - quantile(us, 0.25)) / m.median_us;
  m.runs = static_cast<std::uint32_t>(us.size());
  m.final = final;
  return m;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

double tie(const Tuning& tuning, const Measurement& a, const Measurement& b) {
  // 0.93 times the interquartile range over the root of the number is the standard error of a normal sample's median.
  // A single call has no range: the other one's counts for it.
  const auto variance = [&](const Measurement& m) {
    const double range = m.runs > 1 ? m.spread : std::max(a.spread, b.spread);
    return std::pow(0.93 * range, 2) / static_cast<double>(m.runs);
  };
  return std::max(tuning.noise, 2 * std::sqrt(variance(a) + variance(b)));
}

double speed_of(const Tuning& tuning, const Winner& winner) {
  return gflops(tuning.shapes[winner.figures.shape], winner.figures.median_us);
}

std::vector<std::string> wanted_variants(const Tuning& tuning) {
  std::vector<bool> named(tuning.variants.size());
  for (const cache::Rule& rule : tuning.exceptions) named[rule.variant] = true;
  for (const cache::CostModel& model : tuning.models) named[model.variant] = true;
  std::vector<std::string> wanted;
  for (std::size_t v = 0; v < named.size(); ++v) {
    if (named[v]) wanted.push_back(tuning.variants[v]);
  }
  return wanted;
}

}  // namespace clbake::builder
