#include "run/mixed_host.hpp"

#include <clbake/builder/elements.hpp>
#include <clbake/builder/reference.hpp>
#include <clbake/weights/pack.hpp>
#include "run/random_numbers.hpp"
#include "run/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

namespace clbake::builder {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kNotRead = 0x7F;
constexpr std::uint8_t kGuardByte = 0xA5;

double draw(Element element, std::mt19937& random) {
  const double unit = static_cast<double>(random()) / 4294967296.0;  // [0, 1)
  switch (element) {
    case Element::int8: return std::floor(unit * 256) - 128;
    case Element::uint8: return std::floor(unit * 256);
    case Element::int32: return std::floor(unit * 2048) - 1024;
    default: return 2 * unit - 1;
  }
}

// The random numbers of a type, as bytes.
const Bytes& random_numbers(Ring ring, Element element) {
  static std::mutex mutex;
  static std::map<Element, Bytes> drawn[2];
  const std::lock_guard<std::mutex> lock(mutex);
  Bytes& numbers = drawn[ring][element];
  if (!numbers.empty()) return numbers;
  numbers.resize(kRandomNumbers * bytes_of(element));
  std::mt19937 random(std::mt19937::default_seed + ring);
  for (std::size_t at = 0; at < numbers.size(); at += bytes_of(element)) {
    encode(element, draw(element, random), &numbers[at]);
  }
  return numbers;
}

Bytes many_nans(Element element) {
  Bytes nans(std::size_t{1024} * bytes_of(element));
  for (std::size_t at = 0; at < nans.size(); at += bytes_of(element)) {
    encode(element, std::numeric_limits<double>::quiet_NaN(), &nans[at]);
  }
  return nans;
}

// `outside` everywhere but in the matrices, which hold random numbers (or, if that is given, NaN).
Bytes make_matrix(Ring ring, const Operand& operand, Element element, std::uint8_t outside, std::size_t guard,
                  std::mt19937& random, bool nan = false) {
  const std::size_t bytes = bytes_of(element);
  const std::size_t elements = std::max<std::size_t>(1, std::max(operand.extent(), operand.offset));
  Bytes data(elements * bytes + guard, outside);
  const Bytes nans = nan ? many_nans(element) : Bytes();
  const Bytes& inside = nan ? nans : random_numbers(ring, element);
  std::size_t next = nan ? 0 : random() % kRandomNumbers * bytes;
  operand.for_each_row([&](std::size_t at) { repeat(inside, next, operand.cols * bytes, &data[at * bytes]); });
  return data;
}

struct Elements {
  explicit Elements(Precision p) : a(element_a(p)), b(element_b(p)), c(element_c(p)) {}
  Element a, b, c;
  Element vector() const {  // of a bias
    if (is_weights(a) || is_weights(b)) return c;
    return c == Element::int32 ? Element::int32 : Element::single;
  }
};

// Random packed weights, with all codes and zero points that there are.
Bytes draw_weights(const WeightFormat& format, std::mt19937& random) {
  const std::size_t groups = format.k / format.group * format.n;
  const auto below = [&](unsigned limit) { return static_cast<std::uint8_t>(random() % limit); };
  Bytes codes(format.k * format.n), zeros(format.has_zeros ? groups : 0);
  std::vector<std::uint16_t> scales(groups);
  for (std::uint8_t& code : codes) code = below(1U << format.bits);
  for (std::uint8_t& zero : zeros) zero = below(format.bits == 4 ? 17 : 256);
  for (std::uint16_t& scale : scales) {
    std::uint8_t bytes[2];
    encode(Element::half, draw(Element::half, random) / (format.bits == 4 ? 8 : 128), bytes);
    std::memcpy(&scale, bytes, sizeof scale);
  }
  return *pack_weights(format, {codes.data(), codes.size()}, {scales.data(), groups}, {zeros.data(), zeros.size()});
}

// The weights of all products, beside each other or shared, as bytes and as numbers.
Bytes make_weights(const Problem& p, const Operand& operand, Element element, std::size_t n, std::mt19937& random,
                   std::vector<std::vector<float>>& numbers) {
  Bytes data(std::max<std::size_t>(1, std::max(operand.extent(), operand.offset)), kNotRead);
  const WeightFormat format{p.k, n, element == Element::q4 ? std::size_t{4} : 8, p.quantization.weight_group,
                            p.quantization.weight_zeros};
  for (std::size_t i = 0; i < p.batch && !operand.empty(); ++i) {
    std::size_t same = 0;
    while (same < i && operand.start(same) != operand.start(i)) ++same;
    if (same < i) {
      numbers.push_back(numbers[same]);
      continue;
    }
    const Bytes packed = draw_weights(format, random);
    std::copy(packed.begin(), packed.end(), data.begin() + static_cast<std::ptrdiff_t>(operand.start(i)));
    numbers.push_back(*unpack_weights({packed.data(), packed.size()}));
  }
  return data;
}

double element_at(const Bytes& bytes, Element element, std::size_t at) {
  return decode(element, &bytes[at * bytes_of(element)]);
}

bool is_column_major(const Problem& p) { return p.layout == Layout::column_major; }
std::size_t place(bool down, std::size_t i, std::size_t j, std::size_t ld) { return down ? j * ld + i : i * ld + j; }

// The nearest to x that C can hold, as far as its range goes; half's numbers go on to infinity.
double limited(Element c, double x) {
  if (c == Element::half) return std::fabs(x) < 65520 ? x : std::copysign(std::numeric_limits<double>::infinity(), x);
  std::uint8_t bytes[8] = {};
  if (c != Element::int8 && c != Element::uint8 && c != Element::e4m3 && c != Element::e5m2) return x;
  encode(c, std::copysign(std::numeric_limits<double>::infinity(), x), bytes);
  const double most = decode(c, bytes);
  return std::fabs(x) > std::fabs(most) ? most : x;
}

// As int32 wraps around.
double wrapped(double x) {
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(std::fmod(x, 0x1p32)));
  return static_cast<double>(static_cast<std::int32_t>(bits));
}

class Reference {
 public:
  Reference(const MixedHost& host, const Problem& problem, const GemmRunOptions& options, std::size_t product)
      : h_(host), p_(problem), o_(options), types_(problem.precision), product_(product) {
    alpha_ = (o_.each.empty() ? o_.alpha : o_.each[product].alpha).real();
    beta_ = (o_.each.empty() ? o_.beta : o_.each[product].beta).real();
    if (types_.c != Element::int32) {
      alpha_ = static_cast<double>(static_cast<float>(alpha_));
      beta_ = static_cast<double>(static_cast<float>(beta_));
    }
  }

  double largest_error(const std::vector<std::size_t>& rows, const Bytes& result) const {
    const Elements& t = types_;
    const std::size_t a = operand_a(p_, o_.a_offset).start(product_), b = operand_b(p_, o_.b_offset).start(product_);
    const bool a_down = p_.trans_a != is_column_major(p_), b_down = p_.trans_b != is_column_major(p_);
    const auto of_a = [&](std::size_t i, std::size_t l) {
      return is_weights(t.a) ? weight(l, i, p_.m)
                             : element_at(h_.a, t.a, a + place(a_down, i, l, p_.lda)) - p_.quantization.zero_a;
    };
    const auto of_b = [&](std::size_t l, std::size_t j) {
      return is_weights(t.b) ? weight(l, j, p_.n)
                             : element_at(h_.b, t.b, b + place(b_down, l, j, p_.ldb)) - p_.quantization.zero_b;
    };
    const auto error_of = [&](std::size_t i, std::size_t j, double sum, double magnitude) {
      return error(i, j, sum, magnitude, result);
    };
    return largest_of_sums<double>(rows, p_.n, alpha_ == 0 ? 0 : p_.k, b_down && !is_weights(t.b), of_a, of_b,
                                   error_of);
  }

 private:
  double error(std::size_t i, std::size_t j, double sum, double magnitude, const Bytes& result) const {
    const Quantization& q = p_.quantization;
    double scale = alpha_;
    if (q.row_scales) scale *= vector_at(h_.row_scales, operand_row_scales(p_), i);
    if (q.column_scales) scale *= vector_at(h_.column_scales, operand_column_scales(p_), j);
    const double old = beta_ == 0 ? 0 : beta_ * old_of(i, j);
    const double bias = bias_of(i, j);
    const double x = activated(p_.epilogue, scale * sum + old + bias);
    const std::size_t at = operand_c(p_, o_.c_offset).start(product_) + place(is_column_major(p_), i, j, p_.ldc);
    const double got = element_at(result, types_.c, at);
    if (types_.c == Element::int32) return got == wrapped(x) ? 0 : std::numeric_limits<double>::infinity();
    const double expected = limited(types_.c, x + q.zero_c);
    if (got == expected) return 0;
    const bool is_whole = types_.c == Element::int8 || types_.c == Element::uint8;
    const double size = std::max(std::fabs(scale) * magnitude + std::fabs(old) + std::fabs(bias), std::fabs(expected));
    const double off = std::max(0.0, std::fabs(got - expected) - (is_whole ? 0.5 : 0.0)) / (size + least_normal());
    return std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
  }

  double least_normal() const {
    if (types_.c == Element::e4m3) return 0x1p-6;
    return types_.c == Element::e5m2 || types_.c == Element::half ? 0x1p-14 : 0;
  }
  double vector_at(const Bytes& bytes, const Operand& operand, std::size_t i) const {
    return element_at(bytes, Element::single, operand.start(operand.batch > 1 ? product_ : 0) + i);
  }
  double old_of(std::size_t i, std::size_t j) const {
    const Epilogue& e = p_.epilogue;
    const Operand from = e.has_d ? operand_d(p_, o_.d_offset) : operand_c(p_, o_.c_offset);
    return element_at(e.has_d ? h_.d : h_.c, types_.c,
                      from.start(product_) + place(is_column_major(p_), i, j, from.ld));
  }
  double bias_of(std::size_t i, std::size_t j) const {
    const Bias bias = p_.epilogue.bias;
    if (bias == Bias::none) return 0;
    const Operand from = operand_bias(p_, o_.bias_offset);
    return element_at(h_.bias, types_.vector(),
                      from.start(from.batch > 1 ? product_ : 0) + (bias == Bias::per_row ? i : j));
  }
  double weight(std::size_t l, std::size_t column, std::size_t n) const {
    return static_cast<double>(h_.weights[product_][l * n + column]);
  }

  const MixedHost& h_;
  const Problem& p_;
  const GemmRunOptions& o_;
  Elements types_;
  std::size_t product_;
  double alpha_ = 1, beta_ = 0;
};

}  // namespace

MixedHost make_mixed(const Problem& p, const GemmRunOptions& o, std::size_t guard, std::mt19937& random) {
  const Elements types(p.precision);
  const bool reads_c = !o.each.empty() || o.beta != 0.0;
  const Operand in_c = operand_c(p, o.c_offset), in_d = operand_d(p, o.d_offset);
  MixedHost h;
  const Operand in_a = operand_a(p, o.a_offset), in_b = operand_b(p, o.b_offset);
  h.a = is_weights(types.a) ? make_weights(p, in_a, types.a, p.m, random, h.weights)
                            : make_matrix(of_a, in_a, types.a, kNotRead, 0, random);
  h.b = is_weights(types.b) ? make_weights(p, in_b, types.b, p.n, random, h.weights)
                            : make_matrix(of_others, in_b, types.b, kNotRead, 0, random);
  h.c = make_matrix(of_others, in_c, types.c, kGuardByte, guard, random, !reads_c);
  h.d = make_matrix(of_others, in_d, types.c, kNotRead, 0, random, !reads_c);
  h.bias = make_matrix(of_others, operand_bias(p, o.bias_offset), types.vector(), kNotRead, 0, random);
  h.row_scales = make_matrix(of_others, operand_row_scales(p), Element::single, kNotRead, 0, random);
  h.column_scales = make_matrix(of_others, operand_column_scales(p), Element::single, kNotRead, 0, random);
  return h;
}

bool guards_intact(const MixedHost& before, const Problem& p, const GemmRunOptions& o, const Bytes& after) {
  const std::size_t bytes = bytes_of(element_c(p.precision));
  Bytes expected = before.c;
  const Operand in_c = operand_c(p, o.c_offset);
  in_c.for_each_row([&](std::size_t at) { std::memcpy(&expected[at * bytes], &after[at * bytes], in_c.cols * bytes); });
  return expected == after;
}

double max_error(const MixedHost& host, const Problem& problem, const GemmRunOptions& options, std::size_t product,
                 const Bytes& result, const std::vector<std::size_t>& rows) {
  return Reference(host, problem, options, product).largest_error(rows, result);
}

}  // namespace clbake::builder
