#include "run/mixed_host.hpp"

#include <clbake/builder/elements.hpp>
#include <clbake/builder/reference.hpp>
#include <clbake/weights/pack.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

// `outside` everywhere but in the matrices, whose elements are made by `number`.
template <typename Number>
Bytes make_matrix(const Operand& operand, Element element, std::uint8_t outside, std::size_t guard,
                  const Number& number) {
  const std::size_t bytes = bytes_of(element);
  const std::size_t elements = std::max<std::size_t>(1, std::max(operand.extent(), operand.offset));
  Bytes data(elements * bytes + guard, outside);
  operand.for_each_row([&](std::size_t at) {
    for (std::size_t j = 0; j < operand.cols; ++j) encode(element, number(), &data[(at + j) * bytes]);
  });
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

// The sum of a row and a column, and of its terms' sizes.
struct Sum {
  double value = 0, magnitude = 0;
};

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

  double error(std::size_t i, std::size_t j, const Bytes& result) const {
    const Quantization& q = p_.quantization;
    const Sum sum = alpha_ == 0 ? Sum() : sum_of(i, j);
    double scale = alpha_;
    if (q.row_scales) scale *= vector_at(h_.row_scales, operand_row_scales(p_), i);
    if (q.column_scales) scale *= vector_at(h_.column_scales, operand_column_scales(p_), j);
    const double old = beta_ == 0 ? 0 : beta_ * old_of(i, j);
    const double bias = bias_of(i, j);
    const double x = activated(p_.epilogue, scale * sum.value + old + bias);
    const std::size_t at = operand_c(p_, o_.c_offset).start(product_) + place(is_column_major(p_), i, j, p_.ldc);
    const double got = element_at(result, types_.c, at);
    if (types_.c == Element::int32) return got == wrapped(x) ? 0 : std::numeric_limits<double>::infinity();
    const double expected = limited(types_.c, x + q.zero_c);
    if (got == expected) return 0;
    const bool is_whole = types_.c == Element::int8 || types_.c == Element::uint8;
    const double size =
        std::max(std::fabs(scale) * sum.magnitude + std::fabs(old) + std::fabs(bias), std::fabs(expected));
    const double off = std::max(0.0, std::fabs(got - expected) - (is_whole ? 0.5 : 0.0)) / (size + least_normal());
    return std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
  }

 private:
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
  Sum sum_of(std::size_t i, std::size_t j) const {
    const std::size_t a = operand_a(p_, o_.a_offset).start(product_), b = operand_b(p_, o_.b_offset).start(product_);
    const bool a_down = p_.trans_a != is_column_major(p_), b_down = p_.trans_b != is_column_major(p_);
    const auto weight = [&](std::size_t l, std::size_t column, std::size_t n) {
      return static_cast<double>(h_.weights[product_][l * n + column]);
    };
    Sum sum;
    for (std::size_t l = 0; l < p_.k; ++l) {
      const double x = is_weights(types_.a)
                           ? weight(l, i, p_.m)
                           : element_at(h_.a, types_.a, a + place(a_down, i, l, p_.lda)) - p_.quantization.zero_a;
      const double y = is_weights(types_.b)
                           ? weight(l, j, p_.n)
                           : element_at(h_.b, types_.b, b + place(b_down, l, j, p_.ldb)) - p_.quantization.zero_b;
      sum.value += x * y;
      sum.magnitude += std::fabs(x * y);
    }
    return sum;
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
  const auto random_of = [&](Element element) { return [&random, element] { return draw(element, random); }; };
  const auto nan = [] { return std::numeric_limits<double>::quiet_NaN(); };
  const bool reads_c = !o.each.empty() || o.beta != 0.0;
  const Operand in_c = operand_c(p, o.c_offset), in_d = operand_d(p, o.d_offset);
  MixedHost h;
  const Operand in_a = operand_a(p, o.a_offset), in_b = operand_b(p, o.b_offset);
  h.a = is_weights(types.a) ? make_weights(p, in_a, types.a, p.m, random, h.weights)
                            : make_matrix(in_a, types.a, kNotRead, 0, random_of(types.a));
  h.b = is_weights(types.b) ? make_weights(p, in_b, types.b, p.n, random, h.weights)
                            : make_matrix(in_b, types.b, kNotRead, 0, random_of(types.b));
  h.c = reads_c ? make_matrix(in_c, types.c, kGuardByte, guard, random_of(types.c))
                : make_matrix(in_c, types.c, kGuardByte, guard, nan);
  h.d = reads_c ? make_matrix(in_d, types.c, kNotRead, 0, random_of(types.c))
                : make_matrix(in_d, types.c, kNotRead, 0, nan);
  h.bias = make_matrix(operand_bias(p, o.bias_offset), types.vector(), kNotRead, 0, random_of(types.vector()));
  h.row_scales = make_matrix(operand_row_scales(p), Element::single, kNotRead, 0, random_of(Element::single));
  h.column_scales = make_matrix(operand_column_scales(p), Element::single, kNotRead, 0, random_of(Element::single));
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
  const Reference reference(host, problem, options, product);
  double worst = 0;
  for (const std::size_t i : rows) {
    for (std::size_t j = 0; j < problem.n; ++j) worst = std::max(worst, reference.error(i, j, result));
  }
  return worst;
}

}  // namespace clbake::builder
