#include <clbake/builder/shape/shape.hpp>

#include <clbake/choice.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>
#include <tuple>

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

Status refuse(const std::string& word, const std::string& what) {
  constexpr std::size_t shown = 80;
  return {Code::malformed, (word.empty() ? "no " : "'" + word.substr(0, shown) + "' is no ") + what};
}

Problem tight_problem_of(const Shape& shape) { return make_problem(shape.kind(), shape.m, shape.n, shape.k); }

// A leading dimension that leaves no gap becomes 0, so that equal problems have one name.
Status set_leading_dimension(const std::string& text, std::size_t tight, std::size_t& ld) {
  const std::optional<std::size_t> value = parse_size(text);
  if (!value || *value < tight) {
    return refuse(text, "leading dimension: a number from " + std::to_string(tight) + " to 2147483647");
  }
  ld = *value == tight ? 0 : *value;
  return {};
}

// "lda N", "ldb N", "batch N" and "weight W", each if it is there, in this order.
Status parse_options(std::istringstream& words, Shape& shape) {
  const Problem tight = tight_problem_of(shape);
  std::string key, value;
  Status status;
  const auto take = [&](const char* wanted, const auto& set) {
    if (!status || key != wanted) return;
    words >> value;
    status = set();
    key.clear(), value.clear();
    words >> key;
  };
  words >> key;
  take("lda", [&] { return set_leading_dimension(value, tight.lda, shape.lda); });
  take("ldb", [&] { return set_leading_dimension(value, tight.ldb, shape.ldb); });
  take("batch", [&] {
    const std::optional<std::size_t> products = parse_size(value);
    shape.batch = products.value_or(1);
    return products ? Status() : refuse(value, "batch: a number from 1 to 2147483647");
  });
  take("weight",
       [&] { return parse_weight(value, shape) ? Status() : refuse(value, "weight: a number from 1e-6 to 1e9"); });
  if (!status || key.empty()) return status;
  return refuse(key, "part of a shape: MxNxK, then 'lda N', 'ldb N', 'batch N', 'weight W'");
}

auto fields(const Shape& s) { return std::tie(s.m, s.n, s.k, s.lda, s.ldb, s.batch); }

}  // namespace

bool operator==(const Shape& a, const Shape& b) { return a.kind() == b.kind() && fields(a) == fields(b); }

std::string kind_name(const GemmKind& kind) {
  return std::string(clbake::name(kind.precision)) + ' ' + (kind.trans_a ? 't' : 'n') + (kind.trans_b ? 't' : 'n');
}

bool parse_precision(const std::string& word, GemmKind& kind) {
  const auto find = [&](const auto& precisions) {
    const auto* const known = std::find_if(std::begin(precisions), std::end(precisions),
                                           [&](Precision p) { return word == clbake::name(p); });
    if (known != std::end(precisions)) kind.precision = *known;
    return known != std::end(precisions);
  };
  return find(all_precisions) || find(complex_precisions) || find(mixed_precisions);
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
  if (shape.lda > 0) text << " lda " << shape.lda;
  if (shape.ldb > 0) text << " ldb " << shape.ldb;
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
  const Status status = parse_options(words, shape);
  if (!status) return status;
  return shape;
}

Problem problem_of(const Shape& shape) {
  Problem p = tight_problem_of(shape);
  if (shape.lda > 0) p.lda = shape.lda;
  if (shape.ldb > 0) p.ldb = shape.ldb;
  p.batch = shape.batch;
  if (shape.batch > 1) {
    p.a_stride = (p.trans_a ? p.k : p.m) * p.lda;
    p.b_stride = (p.trans_b ? p.n : p.k) * p.ldb;
    p.c_stride = p.m * p.ldc;
  }
  return p;
}

Shape shape_of(const Problem& p) {
  Shape shape;
  shape.kind() = p.kind();
  shape.m = p.m;
  shape.n = p.n;
  shape.k = p.k;
  shape.batch = p.batch;
  const Problem tight = tight_problem_of(shape);
  shape.lda = p.lda == tight.lda ? 0 : p.lda;
  shape.ldb = p.ldb == tight.ldb ? 0 : p.ldb;
  return shape;
}

double operations(const Shape& shape) {
  return (is_complex(shape.precision) ? 8.0 : 2.0) * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) * static_cast<double>(shape.batch);
}

Shape real_shape(const Shape& shape) {
  Shape real = shape_of(real_product(problem_of(shape)));
  real.weight = shape.weight;
  return real;
}

double gflops(const Shape& shape, double median_us) { return operations(shape) / median_us / 1000; }

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

}  // namespace clbake::builder
