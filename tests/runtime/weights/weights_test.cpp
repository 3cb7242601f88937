// Packed weights on the host, against plain code: what the kernels read is decoded here as kernels/WEIGHTS.md says.
#include <clbake/weights/pack.h>
#include <clbake/weights/pack.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <tuple>

using namespace clbake;

namespace {

constexpr std::uint16_t kHalf = 0x3800, kOne = 0x3C00, kNan = 0x7E00, kInfinity = 0x7C00;  // the halves 0.5, 1 ...

template <typename T>
Elements<T> all(const std::vector<T>& from) {
  return {from.data(), from.size()};
}

// Weight (p, j) of packed bytes by the page alone.
float weight_at(const PackedWeights& bytes, const WeightFormat& f, std::size_t p, std::size_t j) {
  const std::size_t head = f.has_zeros ? 48 : 32, block = head + 2 * f.group * f.bits;
  const std::uint8_t* const at = bytes.data() + 64 + (j / 16 * (f.k / f.group) + p / f.group) * block;
  const std::size_t step = p % f.group, i = step % 32, column = j % 16;
  const std::uint8_t* const chunk = at + head + step / 32 * (64 * f.bits);
  const std::size_t byte = i % 4 == 1 ? 2 : i % 4 == 2 ? 1 : i % 4;
  unsigned code = 0;
  if (f.bits == 4) {
    const unsigned both = chunk[(i % 16 / 4) * 64 + column * 4 + byte];
    code = i < 16 ? both % 16 : both / 16;
  } else {
    code = chunk[i / 4 * 64 + column * 4 + byte];
  }
  const unsigned zero = f.has_zeros ? at[32 + column] : f.bits == 4 ? 8 : 128;
  const unsigned bits = at[2 * column] + 256U * at[2 * column + 1];
  const int exponent = static_cast<int>(bits >> 10 & 31);  // of normal halves
  const float scale = std::ldexp(static_cast<float>(1024 + (bits & 1023)), exponent - 25);
  return static_cast<float>(static_cast<int>(code) - static_cast<int>(zero)) * ((bits & 0x8000) != 0 ? -scale : scale);
}

std::mt19937 dice(7);
unsigned below(unsigned limit) { return static_cast<unsigned>(dice()) % limit; }

// A normal half of either sign.
std::uint16_t random_scale() {
  return static_cast<std::uint16_t>(below(2) << 15 | (8 + below(12)) << 10 | below(1024));
}

std::vector<std::uint16_t> random_scales(std::size_t count) {
  std::vector<std::uint16_t> scales(count);
  for (std::uint16_t& scale : scales) scale = random_scale();
  return scales;
}

std::vector<std::uint32_t> random_words(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(dice());
  return words;
}

float float_of(std::uint16_t half) {
  const float size = std::ldexp(static_cast<float>(1024 + (half & 1023)), (half >> 10 & 31) - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

PackedWeights good(Result<PackedWeights> packed) {
  BOOST_REQUIRE_MESSAGE(packed.ok(), packed.status().message());
  return std::move(*packed);
}

template <typename T>
std::string refusal(const Result<T>& result) {
  BOOST_TEST((result.status().code() == Code::invalid_argument));
  return result.status().message();
}

// Compares each weight with expected(p, j), by the page and by unpack_weights.
template <typename Expected>
void check_weights(const PackedWeights& packed, const WeightFormat& f, const Expected& expected) {
  BOOST_TEST(packed.size() == weight_bytes(f));
  const Result<std::vector<float>> unpacked = unpack_weights(all(packed));
  BOOST_REQUIRE_MESSAGE(unpacked.ok(), unpacked.status().message());
  std::size_t wrong = 0;
  for (std::size_t p = 0; p < f.k; ++p) {
    for (std::size_t j = 0; j < f.n; ++j) {
      const float wanted = expected(p, j);
      if (weight_at(packed, f, p, j) != wanted || (*unpacked)[p * f.n + j] != wanted) ++wrong;
    }
  }
  BOOST_TEST(wrong == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(WeightsArePackedAndUnpacked) {
  for (const std::size_t bits : {4U, 8U}) {
    for (const std::size_t group : {32U, 64U, 128U}) {
      for (const bool zeros : {false, true}) {
        const WeightFormat f{256, 37, bits, group, zeros};
        std::vector<std::uint8_t> codes(f.k * f.n), of_zeros(zeros ? f.k / group * f.n : 0);
        for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(below(1U << bits));
        for (std::uint8_t& zero : of_zeros) zero = static_cast<std::uint8_t>(below(bits == 4 ? 17 : 256));
        const std::vector<std::uint16_t> scales = random_scales(f.k / group * f.n);
        check_weights(good(pack_weights(f, all(codes), all(scales), all(of_zeros))), f,
                      [&](std::size_t p, std::size_t j) {
                        const int zero = zeros ? of_zeros[p / group * f.n + j] : 1 << (bits - 1);
                        return static_cast<float>(codes[p * f.n + j] - zero) * float_of(scales[p / group * f.n + j]);
                      });
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(FloatsBecomeTheNearestWeights) {
  for (const std::size_t bits : {4U, 8U}) {
    const WeightFormat f{128, 19, bits, 64};
    std::vector<float> weights(f.k * f.n);
    for (float& weight : weights) weight = static_cast<float>(below(2000)) / 1000 - 1;
    for (std::size_t p = 0; p < 64; ++p) weights[p * f.n + 3] = 0;
    const std::vector<float> found = *unpack_weights(all(good(quantize_weights(f, all(weights)))));
    float worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::fabs(found[i] - weights[i]));
    BOOST_TEST(worst <
               (bits == 4 ? 0.126F : 0.0041F));  // half a step of the largest scale; 4 bits: a whole one at its end
    BOOST_TEST(found[3] == 0);
  }
}

BOOST_AUTO_TEST_CASE(GgufBlocksKeepTheirWeights) {
  for (const std::size_t bits : {4U, 8U}) {
    const WeightFormat f{96, 21, bits, 32};
    const std::size_t block = bits == 4 ? 18 : 34;
    std::vector<std::uint8_t> blocks(f.n * 3 * block);
    for (std::uint8_t& byte : blocks) byte = static_cast<std::uint8_t>(below(256));
    for (std::size_t i = 0; i < f.n * 3; ++i) {
      const std::uint16_t scale = random_scale();
      blocks[i * block] = static_cast<std::uint8_t>(scale & 255);
      blocks[i * block + 1] = static_cast<std::uint8_t>(scale >> 8);
    }
    check_weights(good(pack_gguf(bits, f.k, f.n, all(blocks))), f, [&](std::size_t p, std::size_t j) {
      const std::uint8_t* const at = &blocks[(j * 3 + p / 32) * block];
      const float scale = float_of(static_cast<std::uint16_t>(at[0] | at[1] << 8));
      const std::size_t i = p % 32;
      if (bits == 8) return static_cast<float>(static_cast<std::int8_t>(at[2 + i])) * scale;
      const int code = i < 16 ? at[2 + i] % 16 : at[2 + i - 16] / 16;
      return static_cast<float>(code - 8) * scale;
    });
  }
}

BOOST_AUTO_TEST_CASE(GptqAndAwqKeepTheirWeights) {
  const WeightFormat f{256, 40, 4, 128, true};
  const std::vector<std::uint16_t> scales = random_scales(2 * f.n);
  const auto four = [](std::uint32_t word, std::size_t place) { return static_cast<int>(word >> 4 * place & 15); };
  const auto weight = [&](int code, int zero, std::size_t p, std::size_t j) {
    return static_cast<float>(code - zero) * float_of(scales[p / 128 * f.n + j]);
  };
  const std::vector<std::uint32_t> zeros = random_words(2 * f.n / 8);
  const std::vector<std::uint32_t> along_k = random_words(f.k / 8 * f.n);
  for (const bool minus_one : {true, false}) {
    check_weights(good(pack_gptq(f.k, f.n, 128, all(along_k), all(zeros), all(scales), minus_one)), f,
                  [&](std::size_t p, std::size_t j) {
                    return weight(four(along_k[p / 8 * f.n + j], p % 8),
                                  four(zeros[p / 128 * (f.n / 8) + j / 8], j % 8) + (minus_one ? 1 : 0), p, j);
                  });
  }
  const std::vector<std::uint32_t> along_n = random_words(f.k * f.n / 8);
  check_weights(good(pack_awq(f.k, f.n, 128, all(along_n), all(zeros), all(scales))), f,
                [&](std::size_t p, std::size_t j) {
                  // The place of column j: its position in 0, 2, 4, 6, 1, 3, 5, 7.
                  const std::size_t place = j % 2 == 0 ? j % 8 / 2 : 4 + j % 8 / 2;
                  return weight(four(along_n[p * (f.n / 8) + j / 8], place),
                                four(zeros[p / 128 * (f.n / 8) + j / 8], place), p, j);
                });
}

BOOST_AUTO_TEST_CASE(BadInputIsRefusedByName) {
  const WeightFormat f{64, 16, 4, 32, true};
  std::vector<std::uint8_t> codes(64 * 16, 3), zeros(2 * 16, 16);
  std::vector<std::uint16_t> scales(2 * 16, kHalf);
  const auto pack = [&] { return pack_weights(f, all(codes), all(scales), all(zeros)); };
  const PackedWeights packed = good(pack());
  scales[17] = kNan;
  BOOST_TEST(refusal(pack()) == "the scale of group 1, column 1 is infinite or no number");
  scales[17] = kInfinity;
  BOOST_TEST(refusal(pack()) == "the scale of group 1, column 1 is infinite or no number");
  scales[17] = kOne;
  zeros[2] = 17;
  BOOST_TEST(refusal(pack()) == "the zero point of group 0, column 2 is 17, more than 16");
  zeros[2] = 0;
  codes[16] = 16;
  BOOST_TEST(refusal(pack()) == "the code at 1, 0 is 16, more than 15");
  codes.pop_back();
  BOOST_TEST(refusal(pack()) == "codes has 1023 elements, not 1024");
  codes.push_back(0);
  scales.push_back(kOne);
  BOOST_TEST(refusal(pack()) == "scales has 33 elements, not 32");
  scales.pop_back();
  zeros.clear();
  BOOST_TEST(refusal(pack()) == "zeros has 0 elements, not 32");
  BOOST_TEST(check_weight_format({64, 16, 5, 32}).message() == "bits = 5 is not 4 or 8");
  BOOST_TEST(check_weight_format({64, 16, 4, 16}).message() == "group = 16 is not 32, 64 or 128");
  BOOST_TEST(check_weight_format({96, 16, 4, 64}).message() == "k = 96 is no multiple of the group of 64");

  const std::vector<float> infinite(32 * 2, std::numeric_limits<float>::infinity()), large(32, 1e9F);
  BOOST_TEST(refusal(quantize_weights({32, 2}, all(infinite))) == "the weight at 0, 0 is infinite or no number");
  BOOST_TEST(refusal(quantize_weights({32, 1}, all(large))) ==
             "the scale of group 0, column 0 is infinite or no number");
  BOOST_TEST(refusal(pack_gguf(4, 32, 2, all(zeros))) == "blocks has 0 elements, not 36");
  BOOST_TEST(refusal(pack_gguf(4, 40, 2, all(zeros))) == "k = 40 is no multiple of the group of 32");
  const std::vector<std::uint32_t> none;
  BOOST_TEST(refusal(pack_awq(128, 12, 128, all(none), all(none), all(scales))) ==
             "n = 12 is no multiple of 8: rows end inside a word");
  BOOST_TEST(refusal(pack_gptq(128, 8, 128, all(none), all(none), all(scales))) == "qweight has 0 elements, not 128");

  const auto changed = [&](std::size_t at, std::uint8_t to) {
    PackedWeights bytes = packed;
    bytes[at] = to;
    return refusal(weight_format(all(bytes)));
  };
  BOOST_TEST(changed(0, 'x') == "no packed weights: they begin otherwise");
  BOOST_TEST(changed(4, 2) == "packed weights of version 2, this library knows 1");
  BOOST_TEST(changed(8, 8) == "packed weights has 672 elements, not 1184");
  BOOST_TEST(changed(12, 33) == "packed weights: group = 33 is not 32, 64 or 128");
  BOOST_TEST(changed(16, 2) == "packed weights: has_zeros = 2 is not 0 or 1");
  BOOST_TEST(changed(65, 0x7C) == "packed weights: the scale of group 0, column 0 is infinite or no number");
  BOOST_TEST(changed(64 + 32, 17) == "packed weights: the zero point of group 0, column 0 is more than 16");
  BOOST_TEST(refusal(weight_format({packed.data(), 63})) == "packed weights of 63 bytes have no whole head");
}

BOOST_AUTO_TEST_CASE(CPacksTheSameBytes) {
  clbake_error error;
  clbake_weight_format format, found;
  clbake_weight_format_init(&format, 64, 3);
  clbake_weight_format_init(&found, 0, 0);
  std::vector<float> weights(64 * 3);
  for (float& weight : weights) weight = static_cast<float>(below(100)) - 50;
  std::size_t size = 0;
  BOOST_TEST(clbake_weights_bytes(&format, &size, &error) == CLBAKE_OK);
  PackedWeights packed(size);
  BOOST_TEST(clbake_weights_quantize(&format, weights.data(), weights.size(), packed.data(), size, &error) ==
             CLBAKE_OK);
  BOOST_TEST(packed == good(quantize_weights({64, 3}, all(weights))));
  BOOST_TEST(clbake_weights_inspect(packed.data(), size, &found, &error) == CLBAKE_OK);
  const auto fields = [](const clbake_weight_format& f) { return std::tie(f.k, f.n, f.bits, f.group, f.has_zeros); };
  BOOST_TEST((fields(found) == fields(format)));
  std::vector<float> unpacked(weights.size());
  BOOST_TEST(clbake_weights_unpack(packed.data(), size, unpacked.data(), unpacked.size(), &error) == CLBAKE_OK);
  BOOST_TEST(unpacked == *unpack_weights(all(packed)));

  const std::vector<std::uint8_t> blocks(3 * 2 * 18, 17);
  BOOST_TEST(clbake_weights_pack_gguf(&format, blocks.data(), blocks.size(), packed.data(), size, &error) == CLBAKE_OK);
  BOOST_TEST(packed == good(pack_gguf(4, 64, 3, all(blocks))));
  const std::vector<std::uint8_t> codes(64 * 3, 9);
  const std::vector<std::uint16_t> scales(2 * 3, kOne);
  BOOST_TEST(clbake_weights_pack(&format, codes.data(), codes.size(), scales.data(), scales.size(), nullptr, 0,
                                 packed.data(), size, &error) == CLBAKE_OK);
  BOOST_TEST(packed == good(pack_weights({64, 3}, all(codes), all(scales))));

  clbake_weight_format words;
  clbake_weight_format_init(&words, 64, 8);
  words.has_zeros = 1;
  const std::vector<std::uint32_t> qweight = random_words(64), qzeros = random_words(2);
  const std::vector<std::uint16_t> eight(16, kOne);
  BOOST_TEST(clbake_weights_bytes(&words, &size, &error) == CLBAKE_OK);
  packed.resize(size);
  BOOST_TEST(clbake_weights_pack_gptq(&words, qweight.data(), 64, qzeros.data(), 2, eight.data(), 16, 1, packed.data(),
                                      size, &error) == CLBAKE_OK);
  BOOST_TEST(packed == good(pack_gptq(64, 8, 32, all(qweight), all(qzeros), all(eight))));
  BOOST_TEST(clbake_weights_pack_awq(&words, qweight.data(), 64, qzeros.data(), 2, eight.data(), 16, packed.data(),
                                     size, &error) == CLBAKE_OK);
  BOOST_TEST(packed == good(pack_awq(64, 8, 32, all(qweight), all(qzeros), all(eight))));

  const auto refused = [&](clbake_code code, clbake_argument argument, const char* message) {
    BOOST_TEST(code == CLBAKE_INVALID_ARGUMENT);
    BOOST_TEST(error.argument == argument);
    BOOST_TEST(error.message == message);
  };
  refused(clbake_weights_pack_awq(&format, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, &error),
          CLBAKE_ARGUMENT_OTHER, "format: such weights have 4 bits and zero points");
  refused(clbake_weights_pack_gguf(&words, nullptr, 0, nullptr, 0, &error), CLBAKE_ARGUMENT_OTHER,
          "format: GGUF's blocks are groups of 32 without zero points");
  refused(clbake_weights_quantize(&format, nullptr, 3, nullptr, 0, &error), CLBAKE_ARGUMENT_OTHER, "weights is null");
  refused(clbake_weights_quantize(&format, weights.data(), weights.size(), packed.data(), 5, &error),
          CLBAKE_ARGUMENT_OUTPUT, "packed has 5 bytes, not 640");
  format.struct_size = 3;
  BOOST_TEST(clbake_weights_bytes(&format, &size, &error) == CLBAKE_INVALID_ARGUMENT);
  BOOST_TEST(error.argument == CLBAKE_ARGUMENT_STRUCT_SIZE);
}
