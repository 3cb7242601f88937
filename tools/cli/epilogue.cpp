#include "cli/epilogue.hpp"

#include <algorithm>
#include <iterator>

namespace clbake::tool {
namespace {

constexpr const char* kBiasWords[] = {"none", "row", "column"};

// The number of `word` in the list.
template <typename Words>
std::size_t number_of(const char* option, const std::string& word, const Words& words) {
  const auto at = std::find(std::begin(words), std::end(words), word);
  if (at != std::end(words)) return static_cast<std::size_t>(at - std::begin(words));
  std::string known;
  for (const char* each : words) known += (known.empty() ? "" : ", ") + std::string(each);
  throw UsageError(std::string("--") + option + ": '" + word + "' is none of " + known);
}

}  // namespace

std::vector<Activation> activations_of(const std::vector<std::string>& words) {
  std::vector<Activation> list;
  for (const std::string& word : words) {
    list.push_back(static_cast<Activation>(number_of("activation", word, activation_words)));
  }
  if (!list.empty()) return list;
  for (std::size_t i = 0; i < std::size(activation_words); ++i) list.push_back(static_cast<Activation>(i));
  return list;
}

void add_epilogue_options(Cli& cli) {
  cli.add_value("bias", "WHICH", "add a random vector to C, with an element for each row or column; default none");
  cli.add_value("activation", "NAME",
                "apply none, relu, clamp, sigmoid, silu, gelu or gelu_tanh to the result; default none");
  cli.add_value("low", "X", "lower bound of clamp; default 0");
  cli.add_value("high", "X", "upper bound of clamp; default 1");
  cli.add_flag("d", "beta multiplies a random matrix D instead of C");
}

Epilogue epilogue_from(const Cli& cli, std::size_t ldc) {
  Epilogue e;
  e.bias = static_cast<Bias>(number_of("bias", cli.text("bias", "none"), kBiasWords));
  e.activation = static_cast<Activation>(number_of("activation", cli.text("activation", "none"), activation_words));
  const bool clamps = e.activation == Activation::clamp;
  if (!clamps && (cli.has("low") || cli.has("high"))) throw UsageError("--low and --high: only of --activation clamp");
  if (clamps) {
    e.low = cli.number("low", 0);
    e.high = cli.number("high", 1);
  }
  e.has_d = cli.has("d");
  if (e.has_d) e.ldd = ldc;
  return e;
}

}  // namespace clbake::tool
