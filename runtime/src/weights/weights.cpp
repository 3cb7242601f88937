#include <clbake/weights/pack.hpp>

#include <clbake/exceptions_to_status.hpp>
#include <clbake/joined.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

namespace clbake {
namespace {

// The head: magic, version, bits, group, 1 for zero points, 0; k and n of 64 bits; zeros. Little-endian.
constexpr std::uint8_t kMagic[] = {'c', 'l', 'b', 'W'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kVersionAt = 4, kBitsAt = 8, kGroupAt = 12, kZerosAt = 16, kDepthAt = 24, kColumnsAt = 32;

constexpr std::size_t kChunk = 32;  // steps of k whose codes lie together

Status refused(std::initializer_list<Piece> why) { return {Argument::other, joined(why)}; }

Status check_count(const char* name, std::size_t count, std::size_t wanted) {
  if (count == wanted) return {};
  return refused({name, " has ", count, " elements, not ", wanted});
}

bool is_finite(std::uint16_t half) { return (half & 0x7C00U) != 0x7C00U; }

float float_of(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1F, fraction = half & 0x3FF;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (half & 0x8000U) != 0 ? -size : size;
}

// Rounded to nearest even; what is too large becomes infinite.
std::uint16_t half_of(float x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const float size = std::fabs(x);
  if (size >= 65520.0F) return sign | 0x7C00U;
  const int exponent = size < 0x1p-14F ? -14 : std::ilogb(size);
  // In units of the last place; a carry goes on into the exponent.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + units));
}

std::uint64_t load(const std::uint8_t* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

void store(std::uint8_t* to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// The places of a packed matrix' parts. p: step of k, j: column.
struct Places {
  const WeightFormat& f;
  std::size_t block(std::size_t p, std::size_t j) const {
    return kWeightHeader + (j / kWeightPanel * (f.k / f.group) + p / f.group) * weight_block(f);
  }
  std::size_t scale(std::size_t p, std::size_t j) const { return block(p, j) + 2 * (j % kWeightPanel); }
  std::size_t zero(std::size_t p, std::size_t j) const { return block(p, j) + 2 * kWeightPanel + j % kWeightPanel; }
  // The byte, and the code's place in it.
  std::size_t code(std::size_t p, std::size_t j) const {
    const std::size_t chunk = p % f.group / kChunk, in_chunk = p % (f.bits == 4 ? kChunk / 2 : kChunk);
    const std::size_t word = chunk * f.bits + in_chunk / 4;
    return block(p, j) + weight_head(f) + (word * kWeightPanel + j % kWeightPanel) * 4 + swapped_in_word(in_chunk);
  }
  unsigned shift(std::size_t p) const { return f.bits == 4 && p % kChunk >= kChunk / 2 ? 4 : 0; }
};

unsigned largest_code(const WeightFormat& f) { return (1U << f.bits) - 1; }
unsigned largest_zero(const WeightFormat& f) { return f.bits == 4 ? 16 : 255; }
unsigned middle(const WeightFormat& f) { return 1U << (f.bits - 1); }

// The head, and room for the rest.
PackedWeights begun(const WeightFormat& f) {
  PackedWeights bytes(weight_bytes(f));
  std::copy(std::begin(kMagic), std::end(kMagic), bytes.begin());
  store(&bytes[kVersionAt], kVersion, 4);
  store(&bytes[kBitsAt], f.bits, 4);
  store(&bytes[kGroupAt], f.group, 4);
  store(&bytes[kZerosAt], f.has_zeros ? 1 : 0, 4);
  store(&bytes[kDepthAt], f.k, 8);
  store(&bytes[kColumnsAt], f.n, 8);
  return bytes;
}

// Packs what code(p, j), scale(group, j) and zero(group, j) say.
template <typename Code, typename Scale, typename Zero>
Result<PackedWeights> packed(const WeightFormat& f, const Code& code, const Scale& scale, const Zero& zero) {
  const Status possible = check_weight_format(f);
  if (!possible) return possible;
  PackedWeights bytes = begun(f);
  const Places places{f};
  for (std::size_t j = 0; j < f.n; ++j) {
    for (std::size_t p = 0; p < f.k; p += f.group) {
      const std::uint16_t of_group = scale(p / f.group, j);
      if (!is_finite(of_group)) {
        return refused({"the scale of group ", p / f.group, ", column ", j, " is infinite or no number"});
      }
      store(&bytes[places.scale(p, j)], of_group, 2);
      if (!f.has_zeros) continue;
      const unsigned of_codes = zero(p / f.group, j);
      if (of_codes > largest_zero(f)) {
        return refused({"the zero point of group ", p / f.group, ", column ", j, " is ", of_codes, ", more than ",
                        largest_zero(f)});
      }
      bytes[places.zero(p, j)] = static_cast<std::uint8_t>(of_codes);
    }
    for (std::size_t p = 0; p < f.k; ++p) {
      const unsigned value = code(p, j);
      if (value > largest_code(f)) {
        return refused({"the code at ", p, ", ", j, " is ", value, ", more than ", largest_code(f)});
      }
      std::uint8_t& byte = bytes[places.code(p, j)];
      byte = static_cast<std::uint8_t>(byte | value << places.shift(p));
    }
  }
  return bytes;
}

unsigned no_zero(std::size_t /*group*/, std::size_t /*column*/) { return 0; }

// The scale of a group of column j, so that its largest weight is the outermost code.
float scale_of(const WeightFormat& f, const float* weights, std::size_t first_p, std::size_t j) {
  float largest = 0;
  for (std::size_t p = first_p; p < first_p + f.group; ++p) {
    const float x = weights[p * f.n + j];
    if (std::fabs(x) > std::fabs(largest)) largest = x;
  }
  return f.bits == 4 ? largest / -8 : std::fabs(largest) / 127;  // 4 bits: -8 has no opposite
}

// Four bits of a word.
unsigned nibble(std::uint32_t word, std::size_t place) { return word >> (4 * place) & 15; }

Status check_eighths(std::size_t n) {
  return n % 8 == 0 ? Status() : refused({"n = ", n, " is no multiple of 8: rows end inside a word"});
}

}  // namespace

Status check_weight_format(const WeightFormat& f) {
  if (f.bits != 4 && f.bits != 8) return refused({"bits = ", f.bits, " is not 4 or 8"});
  if (!is_weight_group(f.group)) return refused({"group = ", f.group, " is not 32, 64 or 128"});
  if (f.k > INT_MAX || f.n > INT_MAX) return refused({"k = ", f.k, ", n = ", f.n, ": one is more than 2^31 - 1"});
  return f.k % f.group == 0 ? Status() : refused({"k = ", f.k, " is no multiple of the group of ", f.group});
}

Result<PackedWeights> pack_weights(const WeightFormat& f, Elements<std::uint8_t> codes, Elements<std::uint16_t> scales,
                                   Elements<std::uint8_t> zeros) {
  return exceptions_to_status([&]() -> Result<PackedWeights> {
    Status status = check_weight_format(f);
    if (!status) return status;
    const std::size_t groups = f.k / f.group * f.n;
    status = check_count("codes", codes.count, f.k * f.n);
    if (status) status = check_count("scales", scales.count, groups);
    if (status) status = check_count("zeros", zeros.count, f.has_zeros ? groups : 0);
    if (!status) return status;
    return packed(
        f, [&](std::size_t p, std::size_t j) { return unsigned{codes.first[p * f.n + j]}; },
        [&](std::size_t group, std::size_t j) { return scales.first[group * f.n + j]; },
        [&](std::size_t group, std::size_t j) { return unsigned{zeros.first[group * f.n + j]}; });
  });
}

Result<PackedWeights> quantize_weights(const WeightFormat& f, Elements<float> weights) {
  return exceptions_to_status([&]() -> Result<PackedWeights> {
    Status status = check_weight_format(f);
    if (status && f.has_zeros) status = refused({"has_zeros: weights that are quantized have no zero points"});
    if (status) status = check_count("weights", weights.count, f.k * f.n);
    if (!status) return status;
    for (std::size_t i = 0; i < weights.count; ++i) {
      if (!std::isfinite(weights.first[i])) {
        return refused({"the weight at ", i / f.n, ", ", i % f.n, " is infinite or no number"});
      }
    }
    std::vector<std::uint16_t> scales(f.k / f.group * f.n);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = half_of(scale_of(f, weights.first, i / f.n * f.group, i % f.n));
    }
    const auto code = [&](std::size_t p, std::size_t j) {
      const float scale = float_of(scales[p / f.group * f.n + j]);
      if (scale == 0 || !std::isfinite(scale)) return middle(f);
      const float nearest = std::nearbyint(weights.first[p * f.n + j] / scale) + static_cast<float>(middle(f));
      return static_cast<unsigned>(std::clamp(nearest, 0.0F, static_cast<float>(largest_code(f))));
    };
    return packed(
        f, code, [&](std::size_t group, std::size_t j) { return scales[group * f.n + j]; }, no_zero);
  });
}

Result<WeightFormat> weight_format(Elements<std::uint8_t> bytes) {
  return exceptions_to_status([&]() -> Result<WeightFormat> {
    if (bytes.count < kWeightHeader) return refused({"packed weights of ", bytes.count, " bytes have no whole head"});
    const std::uint8_t* const head = bytes.first;
    if (std::memcmp(head, kMagic, sizeof kMagic) != 0) return refused({"no packed weights: they begin otherwise"});
    const std::uint64_t version = load(head + kVersionAt, 4);
    if (version != kVersion) {
      return refused({"packed weights of version ", version, ", this library knows ", kVersion});
    }
    const std::uint64_t zeros = load(head + kZerosAt, 4);
    if (zeros > 1) return refused({"packed weights: has_zeros = ", zeros, " is not 0 or 1"});
    const WeightFormat f{load(head + kDepthAt, 8), load(head + kColumnsAt, 8), load(head + kBitsAt, 4),
                         load(head + kGroupAt, 4), zeros == 1};
    const Status possible = check_weight_format(f);
    if (!possible) return possible.within("packed weights");
    if (const Status whole = check_count("packed weights", bytes.count, weight_bytes(f)); !whole) return whole;
    const Places places{f};
    for (std::size_t j = 0; j < f.n; ++j) {
      for (std::size_t p = 0; p < f.k; p += f.group) {
        const auto at = [&](const char* what) { return joined({what, " of group ", p / f.group, ", column ", j}); };
        if (!is_finite(static_cast<std::uint16_t>(load(head + places.scale(p, j), 2)))) {
          return refused({at("packed weights: the scale"), " is infinite or no number"});
        }
        if (f.has_zeros && head[places.zero(p, j)] > largest_zero(f)) {
          return refused({at("packed weights: the zero point"), " is more than ", largest_zero(f)});
        }
      }
    }
    return f;
  });
}

Result<std::vector<float>> unpack_weights(Elements<std::uint8_t> bytes) {
  return exceptions_to_status([&]() -> Result<std::vector<float>> {
    const Result<WeightFormat> format = weight_format(bytes);
    if (!format) return format.status();
    const WeightFormat& f = *format;
    const Places places{f};
    std::vector<float> weights(f.k * f.n);
    for (std::size_t p = 0; p < f.k; ++p) {
      for (std::size_t j = 0; j < f.n; ++j) {
        const unsigned code = bytes.first[places.code(p, j)] >> places.shift(p) & largest_code(f);
        const unsigned zero = f.has_zeros ? bytes.first[places.zero(p, j)] : middle(f);
        const float scale = float_of(static_cast<std::uint16_t>(load(bytes.first + places.scale(p, j), 2)));
        weights[p * f.n + j] = static_cast<float>(static_cast<int>(code) - static_cast<int>(zero)) * scale;
      }
    }
    return weights;
  });
}

Result<PackedWeights> pack_gguf(std::size_t bits, std::size_t k, std::size_t n, Elements<std::uint8_t> blocks) {
  return exceptions_to_status([&]() -> Result<PackedWeights> {
    const WeightFormat f{k, n, bits, kChunk};
    if (const Status possible = check_weight_format(f); !possible) return possible;
    const std::size_t block = 2 + kChunk * bits / 8;
    if (const Status whole = check_count("blocks", blocks.count, k / kChunk * n * block); !whole) return whole;
    const auto block_of = [&](std::size_t group, std::size_t j) {
      return blocks.first + (j * (k / kChunk) + group) * block;
    };
    const auto code = [&](std::size_t p, std::size_t j) -> unsigned {
      const std::uint8_t* const codes = block_of(p / kChunk, j) + 2;
      if (bits == 8) return codes[p % kChunk] ^ 0x80U;
      return codes[p % (kChunk / 2)] >> (p % kChunk >= kChunk / 2 ? 4 : 0) & 15;
    };
    const auto scale = [&](std::size_t group, std::size_t j) {
      return static_cast<std::uint16_t>(load(block_of(group, j), 2));
    };
    return packed(f, code, scale, no_zero);
  });
}

Result<PackedWeights> pack_gptq(std::size_t k, std::size_t n, std::size_t group, Elements<std::uint32_t> qweight,
                                Elements<std::uint32_t> qzeros, Elements<std::uint16_t> scales, bool minus_one) {
  return exceptions_to_status([&]() -> Result<PackedWeights> {
    const WeightFormat f{k, n, 4, group, true};
    Status status = check_weight_format(f);
    if (status) status = check_eighths(n);
    if (status) status = check_count("qweight", qweight.count, k / 8 * n);
    if (status) status = check_count("qzeros", qzeros.count, k / group * (n / 8));
    if (status) status = check_count("scales", scales.count, k / group * n);
    if (!status) return status;
    return packed(
        f, [&](std::size_t p, std::size_t j) { return nibble(qweight.first[p / 8 * n + j], p % 8); },
        [&](std::size_t g, std::size_t j) { return scales.first[g * n + j]; },
        [&](std::size_t g, std::size_t j) {
          return nibble(qzeros.first[g * (n / 8) + j / 8], j % 8) + (minus_one ? 1 : 0);
        });
  });
}

Result<PackedWeights> pack_awq(std::size_t k, std::size_t n, std::size_t group, Elements<std::uint32_t> qweight,
                               Elements<std::uint32_t> qzeros, Elements<std::uint16_t> scales) {
  return exceptions_to_status([&]() -> Result<PackedWeights> {
    const WeightFormat f{k, n, 4, group, true};
    Status status = check_weight_format(f);
    if (status) status = check_eighths(n);
    if (status) status = check_count("qweight", qweight.count, k * (n / 8));
    if (status) status = check_count("qzeros", qzeros.count, k / group * (n / 8));
    if (status) status = check_count("scales", scales.count, k / group * n);
    if (!status) return status;
    constexpr std::size_t kPlaceOf[] = {0, 4, 1, 5, 2, 6, 3, 7};  // of each column of eight
    const auto at = [&](const Elements<std::uint32_t>& words, std::size_t row, std::size_t j) {
      return nibble(words.first[row * (n / 8) + j / 8], kPlaceOf[j % 8]);
    };
    return packed(
        f, [&](std::size_t p, std::size_t j) { return at(qweight, p, j); },
        [&](std::size_t g, std::size_t j) { return scales.first[g * n + j]; },
        [&](std::size_t g, std::size_t j) { return at(qzeros, g, j); });
  });
}

}  // namespace clbake
