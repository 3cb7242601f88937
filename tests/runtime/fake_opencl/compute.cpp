// The kernels of kernels/KERNELS.md, computed by plain loops, and those of complex products. Operands are always packed
// in the layout PAD.
#include "fake_opencl/objects.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fake {
namespace {

constexpr std::size_t kCopyTile = 16;
constexpr std::size_t kReduceTile = 64;

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Rounds to nearest, ties to even (the mode that a program begins with).
std::uint16_t to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7E00;
  if (size >= 65520) return sign | 0x7C00;
  int exponent = -24;  // of the last bit
  if (size >= std::ldexp(1, -14)) exponent = std::ilogb(size) - 10;
  const double mantissa = std::nearbyint(std::ldexp(size, -exponent));
  // A mantissa of 2048 carries into the exponent by itself.
  return static_cast<std::uint16_t>(sign + (exponent == -24 ? 0 : (exponent + 24) << 10) +
                                    static_cast<std::uint16_t>(mantissa));
}

double from_bfloat16(std::uint16_t bits) {
  const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16U;
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return static_cast<double>(value);
}

std::uint16_t to_bfloat16(double value) {
  if (std::isnan(value)) return 0x7FC0;
  const auto single = static_cast<float>(value);
  std::uint32_t word = 0;
  std::memcpy(&word, &single, sizeof word);
  const std::uint32_t below = word & 0xFFFFU;  // more than half of the last place, or half and odd, goes up
  const bool up = below > 0x8000U || (below == 0x8000U && (word & 0x10000U) != 0);
  return static_cast<std::uint16_t>((word >> 16U) + (up ? 1 : 0));
}

// The elements of a memory object; access out of bounds is a complaint, and harmless.
class Elements {
 public:
  Elements(Memory* memory, int bits, bool bfloat16)
      : memory_(memory), bytes_(static_cast<std::size_t>(bits) / 8), bfloat16_(bfloat16) {}
  double get(std::size_t index) const {
    const unsigned char* at = find(index);
    if (!at) return std::nan("");
    if (bytes_ == 2) return (bfloat16_ ? from_bfloat16 : from_half)(load<std::uint16_t>(at));
    return bytes_ == 4 ? static_cast<double>(load<float>(at)) : load<double>(at);
  }
  void set(std::size_t index, double value) const {
    unsigned char* at = find(index);
    if (!at) return;
    if (bytes_ == 2) store(at, (bfloat16_ ? to_bfloat16 : to_half)(value));
    if (bytes_ == 4) store(at, static_cast<float>(value));
    if (bytes_ == 8) store(at, value);
  }

 private:
  unsigned char* find(std::size_t index) const {
    if (index < memory_->bytes / bytes_) return memory_->data + index * bytes_;
    complain("a kernel's access to element " + std::to_string(index) + " of " +
             std::to_string(memory_->bytes / bytes_));
    return nullptr;
  }
  template <typename T>
  static T load(const unsigned char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  template <typename T>
  static void store(unsigned char* at, T value) {
    std::memcpy(at, &value, sizeof value);
  }
  Memory* memory_;
  std::size_t bytes_;
  bool bfloat16_;
};

// A kernel's arguments by index.
class Reader {
 public:
  Reader(const Macros& macros, const Arguments& arguments) : macros_(macros), arguments_(arguments) {}
  std::size_t size(int index) const { return static_cast<std::size_t>(get<cl_int>(index)); }
  std::size_t distance(int index) const { return get<cl_ulong>(index); }
  // Number i of a vector of reals.
  double part(int index, std::size_t i) const {
    return macros_.precision == 64 ? part<cl_double>(index, i) : static_cast<double>(part<cl_float>(index, i));
  }
  Numbers numbers(int index) const { return get<Numbers>(index); }
  double real(int index) const {
    return macros_.precision == 64 ? get<cl_double>(index) : static_cast<double>(get<cl_float>(index));
  }
  Elements elements(int index, bool of_reals = false) const {
    const int bits = of_reals ? std::max(macros_.precision, 32) : macros_.precision;
    return {object<Memory>(get<cl_mem>(index)), bits, macros_.bfloat16 == 1};
  }
  // Start of the matrix `which` (0 to 2) of product `number` after its offset, in elements.
  std::size_t start(int offsets, std::size_t which, std::size_t number, std::size_t stride) const {
    const auto* memory = object<Memory>(get<cl_mem>(offsets));
    const std::size_t index = 3 * number + which;
    if (!memory) return number * stride;
    cl_ulong value = 0;
    if (index >= memory->bytes / sizeof value) {
      complain("a kernel's access to offset " + std::to_string(index));
      return 0;
    }
    std::memcpy(&value, memory->data + index * sizeof value, sizeof value);
    return value;
  }

 private:
  template <typename T>
  T part(int index, std::size_t i) const {
    T value;
    std::memcpy(&value, arguments_.bytes[index] + i * sizeof value, sizeof value);
    return value;
  }
  template <typename T>
  T get(int index) const {
    T value;
    std::memcpy(&value, arguments_.bytes[index], sizeof value);
    return value;
  }
  const Macros& macros_;
  const Arguments& arguments_;
};

std::size_t round_up(std::size_t value, std::size_t factor) { return (value + factor - 1) / factor * factor; }
std::size_t of(int number) { return static_cast<std::size_t>(number); }

double activated(int activation, double x, double low, double high) {
  switch (activation) {
    case 1: return x < low ? low : x > high ? high : x;
    case 2: return 1 / (1 + std::exp(-x));
    case 3: return x / (1 + std::exp(-x));
    case 4: return x * std::erfc(-x / std::sqrt(2.0)) / 2;
    case 5: return x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))) / 2;
    default: return x;
  }
}

// The arguments of gemm and reduce from the batch's offsets on: offsets, bias, d, numbers, scalars.
class Update {
 public:
  Update(const Reader& r, int first, const Elements& c) : r_(r), first_(first), c_(c), x_(r.numbers(first + 3)) {}
  void operator()(std::size_t element, std::size_t number, std::size_t row, std::size_t column, double x,
                  double beta) const {
    if (beta != 0)
      x += beta * ((x_.steps & 32) != 0 ? r_.elements(first_ + 2).get(d(number, row) + column) : c_.get(element));
    const std::size_t bias = x_.bias_offset + number * x_.bias_stride;
    if ((x_.steps & 8) != 0) x += r_.elements(first_ + 1).get(bias + row);
    if ((x_.steps & 16) != 0) x += r_.elements(first_ + 1).get(bias + column);
    c_.set(element, activated(x_.steps & 7, x, r_.part(first_ + 4, 2), r_.part(first_ + 4, 3)));
  }

 private:
  std::size_t d(std::size_t number, std::size_t row) const {
    return x_.d_offset + r_.start(first_, 2, number, x_.d_stride) + row * of(x_.ldd);
  }
  const Reader& r_;
  int first_;
  const Elements& c_;
  Numbers x_;
};

void gemm(const Macros& v, const Reader& r, const std::size_t* groups) {
  const Numbers x = r.numbers(6);
  const bool split = v.split_k > 1;
  const std::size_t m = of(x.m), n = of(x.n), k = of(x.k);
  const std::size_t lda = v.packed_a ? round_up(m, of(v.ml)) : of(x.lda);
  const std::size_t ldb = v.packed_b ? round_up(n, of(v.nl)) : of(x.ldb);
  const std::size_t ldc = split ? n : of(x.ldc);
  const double alpha = split ? (r.part(7, 0) != 0 ? 1 : 0) : r.part(7, 0);
  const double beta = split ? 0 : r.part(7, 1);
  const std::size_t rows = std::min(m, groups[1] * of(v.ml));
  const std::size_t columns = std::min(n, groups[0] * of(v.nl));
  const Elements a = r.elements(0);
  const Elements b = r.elements(1);
  const Elements c = r.elements(2, split);
  const Update update(r, 3, c);
  const std::size_t padded_k = round_up(k, of(v.kl));
  const std::size_t slice_depth = !split ? k : round_up(k, of(v.split_k * v.kl)) / of(v.split_k);
  for (std::size_t z = 0; z < groups[2]; ++z) {
    const std::size_t product = z / of(v.split_k);
    const std::size_t number = product + of(x.first_product);
    const std::size_t first = std::min(k, z % of(v.split_k) * slice_depth);
    const std::size_t end = alpha == 0 ? first : std::min(k, first + slice_depth);
    const std::size_t a_at = !v.packed_a ? x.a_offset + r.start(3, 0, number, x.a_stride) : product * lda * padded_k;
    const std::size_t b_at = !v.packed_b ? x.b_offset + r.start(3, 1, number, x.b_stride) : product * ldb * padded_k;
    const std::size_t c_at = !split ? x.c_offset + r.start(3, 2, number, x.c_stride) : z * m * n;
    const bool a_by_columns = v.packed_a || v.trans_a;
    const bool b_by_rows = v.packed_b || !v.trans_b;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::size_t p = first; p < end; ++p) {
          sum += a.get(a_at + (a_by_columns ? p * lda + i : i * lda + p)) *
                 b.get(b_at + (b_by_rows ? p * ldb + j : j * ldb + p));
        }
        if (split) {
          c.set(c_at + i * ldc + j, alpha * sum);
        } else {
          update(c_at + i * ldc + j, number, i, j, alpha * sum, beta);
        }
      }
    }
  }
}

// `down`: the operand's k runs along its rows as stored, so that one step of k is one element.
void copy(const Macros& v, const Reader& r, const std::size_t* groups, bool of_a, std::size_t block, bool down) {
  const Numbers x = r.numbers(3);
  const std::size_t extent = of(of_a ? x.m : x.n);
  const std::size_t k = of(x.k);
  const std::size_t ld = of(of_a ? x.lda : x.ldb);
  const std::size_t width = round_up(extent, block);
  const std::size_t depth = round_up(k, of(v.kl));
  const std::size_t columns = std::min(width, groups[0] * kCopyTile);
  const std::size_t rows = std::min(depth, groups[1] * kCopyTile);
  const Elements source = r.elements(0);
  const Elements target = r.elements(1);
  for (std::size_t product = 0; product < groups[2]; ++product) {
    const std::size_t from = (of_a ? x.a_offset : x.b_offset) +
                             r.start(2, of_a ? 0 : 1, product + of(x.first_product), of_a ? x.a_stride : x.b_stride);
    for (std::size_t p = 0; p < rows; ++p) {
      for (std::size_t i = 0; i < columns; ++i) {
        const bool exists = p < k && i < extent;
        const double value = exists ? source.get(from + (down ? i * ld + p : p * ld + i)) : 0;
        target.set((product * depth + p) * width + i, value);
      }
    }
  }
}

void reduce(const Macros& v, const Reader& r, const std::size_t* groups) {
  const Numbers x = r.numbers(5);
  const std::size_t n = of(x.n);
  const std::size_t size = of(x.m) * n;
  const std::size_t count = std::min(size, groups[0] * kReduceTile);
  const Elements parts = r.elements(0, true);
  const Elements c = r.elements(1);
  const Update update(r, 2, c);
  for (std::size_t product = 0; product < groups[2]; ++product) {
    const std::size_t number = product + of(x.first_product);
    const std::size_t c_at = x.c_offset + r.start(2, 2, number, x.c_stride);
    for (std::size_t e = 0; e < count; ++e) {
      double sum = 0;
      for (std::size_t slice = 0; slice < of(v.split_k); ++slice) {
        sum += parts.get((product * of(v.split_k) + slice) * size + e);
      }
      update(c_at + e / n * of(x.ldc) + e % n, number, e / n, e % n, r.part(6, 0) * sum, r.part(6, 1));
    }
  }
}

// Calls use(first real of the stored element, product in this launch, row, column).
template <typename Use>
void for_each_complex(const Reader& r, const std::size_t* groups, std::size_t which, const Use& use) {
  for (std::size_t product = 0; product < groups[2]; ++product) {
    const std::size_t from = r.distance(3) + r.start(6, which, product + r.size(7), r.distance(5));
    for (std::size_t row = 0; row < r.size(0); ++row) {
      for (std::size_t column = 0; column < r.size(1); ++column) {
        use(2 * (from + row * r.size(4) + column), product, row, column);
      }
    }
  }
}

void complex_a(const Reader& r, const std::size_t* groups) {
  const Elements source = r.elements(2), target = r.elements(8);
  const bool transposed = r.size(11) != 0;
  for_each_complex(r, groups, 0, [&](std::size_t at, std::size_t product, std::size_t row, std::size_t column) {
    const std::size_t ld = r.size(10);
    const std::size_t to = product * r.distance(9) + (transposed ? 2 * row * ld + column : row * ld + 2 * column);
    target.set(to, source.get(at));
    target.set(to + (transposed ? ld : 1), r.real(12) * source.get(at + 1));
  });
}

void complex_b(const Reader& r, const std::size_t* groups) {
  const Elements source = r.elements(2), target = r.elements(8);
  for_each_complex(r, groups, 1, [&](std::size_t at, std::size_t product, std::size_t row, std::size_t column) {
    const double x = source.get(at), y = r.real(12) * source.get(at + 1);
    const double re = r.part(11, 0) * x - r.part(11, 1) * y;
    const double im = r.real(13) * (r.part(11, 0) * y + r.part(11, 1) * x);
    const std::size_t to = product * r.distance(9) + 2 * row * r.size(10) + 2 * column;
    target.set(to, re);
    target.set(to + 1, im);
    target.set(to + r.size(10), -im);
    target.set(to + r.size(10) + 1, re);
  });
}

void complex_c(const Reader& r, const std::size_t* groups) {
  const Elements c = r.elements(2);
  for_each_complex(r, groups, 2, [&](std::size_t at, std::size_t, std::size_t, std::size_t) {
    const double x = c.get(at), y = c.get(at + 1);
    c.set(at, r.part(8, 0) * x - r.part(8, 1) * y);
    c.set(at + 1, r.part(8, 0) * y + r.part(8, 1) * x);
  });
}

}  // namespace

void compute(Role role, const Macros& v, const Arguments& arguments, const std::size_t* groups) {
  const Reader reader(v, arguments);
  switch (role) {
    case Role::gemm: return gemm(v, reader, groups);
    case Role::pack_a: return copy(v, reader, groups, true, of(v.ml), v.trans_a == 0);
    case Role::pack_b: return copy(v, reader, groups, false, of(v.nl), v.trans_b != 0);
    case Role::reduce: return reduce(v, reader, groups);
    case Role::complex_a: return complex_a(reader, groups);
    case Role::complex_b: return complex_b(reader, groups);
    case Role::complex_c: return complex_c(reader, groups);
  }
}

}  // namespace fake
