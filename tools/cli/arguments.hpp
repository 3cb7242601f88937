// Values of options as users write them. Each function throws UsageError for any other text.
#pragma once

#include "cli/cli.hpp"

#include <clbake/builder/release/check.hpp>
#include <clbake/gemm_kind.hpp>
#include <clbake/kernels/presets.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace clbake::tool {

struct Size {
  std::size_t m, n, k;
};

// "256,512" or "1000x20x300", mixed.
std::vector<Size> sizes_of(const std::string& text);

std::string name(const Size& size);  // "1000x20x300"

// Each precision with each of the transposes "nn,tn", which count once and keep their order.
std::vector<GemmKind> kinds_of(const std::vector<Precision>& precisions, const std::string& transposes);

std::string trans_name(const GemmKind& kind);  // "tn"

// A row-major problem without gaps, of `batch` products, one behind the other in memory.
Problem problem_of(const GemmKind& kind, const Size& size, std::size_t batch);

// "90", "90s", "10m" or "1.5h" in seconds; from 1 to 10,000,000.
double seconds_of(const std::string& text);

// "native,proven": what a problem needs to count as served; an empty text: a program of the bundle.
builder::release::Requirements requirements_of(const std::string& text);

// "2/4": the second of four shards.
struct Shard {
  std::uint32_t index, count;  // 1 <= index <= count
};
Shard shard_of(const std::string& text);

// The words of --activation, by the number of the Activation; "none" is the first.
inline constexpr const char* activation_words[] = {"none", "relu", "clamp", "sigmoid", "silu", "gelu", "gelu_tanh"};
Activation activation_of(const std::string& word);

// The name of a preset's variant; any other text unchanged.
std::string variant_name(const std::string& given);

// Each variant once. Throws UsageError for a name that is neither a variant's nor a preset's.
std::vector<kernels::Params> variants_named(const std::vector<std::string>& names);

// The number of `word` in a list.
template <typename Words>
std::size_t number_of(const char* option, const std::string& word, const Words& words) {
  std::string known;
  for (std::size_t i = 0; i < std::size(words); ++i) {
    if (word == words[i]) return i;
    known += (known.empty() ? "" : ", ") + std::string(words[i]);
  }
  throw UsageError(std::string("--") + option + ": '" + word + "' is none of " + known);
}

}  // namespace clbake::tool
