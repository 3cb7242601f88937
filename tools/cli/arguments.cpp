#include "cli/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

namespace clbake::tool {
namespace {

// A number of at most so many digits; 0 for any other text.
std::size_t digits(const std::string& text, std::size_t most) {
  if (text.empty() || text.size() > most || text.find_first_not_of("0123456789") != std::string::npos) return 0;
  return std::stoul(text);
}

std::string known_presets() {
  std::string text;
  for (const kernels::Preset& preset : kernels::presets()) text += (text.empty() ? "" : ", ") + preset.name;
  return text;
}

kernels::Params variant_named(const std::string& name) {
  if (const kernels::Preset* preset = kernels::find_preset(name)) return preset->params;
  const std::variant<kernels::Params, std::string> read = kernels::parse(name);
  if (const auto* params = std::get_if<kernels::Params>(&read)) return *params;
  // A name with few dashes is more likely a mistyped preset than a variant.
  if (split(name, '-').size() > 3) throw UsageError("--variant: " + std::get<std::string>(read));
  throw UsageError("--variant: '" + name + "' is neither a variant nor a preset; the presets are: " + known_presets());
}

}  // namespace

std::vector<Size> sizes_of(const std::string& text) {
  std::vector<Size> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::size_t first = std::min(part.find('x'), part.size()), second = part.find('x', first + 1);
    const auto number = [&](std::size_t from, std::size_t to) { return digits(part.substr(from, to - from), 9); };
    Size size{number(0, first), 0, 0};
    size.n = size.k = size.m;
    if (first < part.size()) {
      if (second == std::string::npos) throw UsageError("--sizes: '" + part + "' is neither N nor MxNxK");
      size.n = number(first + 1, second);
      size.k = number(second + 1, part.size());
    }
    if (size.m == 0 || size.n == 0 || size.k == 0)
      throw UsageError("--sizes: '" + part + "' is neither N nor MxNxK, from 1 on");
    sizes.push_back(size);
  }
  if (sizes.empty()) throw UsageError("--sizes: no size given");
  return sizes;
}

std::string name(const Size& size) {
  return std::to_string(size.m) + "x" + std::to_string(size.n) + "x" + std::to_string(size.k);
}

Problem problem_of(const GemmKind& kind, const Size& size, std::size_t batch) {
  builder::Shape shape;
  shape.kind() = kind;
  shape.m = size.m;
  shape.n = size.n;
  shape.k = size.k;
  shape.batch = batch;
  return builder::problem_of(shape);
}

std::vector<GemmKind> kinds_of(const std::vector<Precision>& precisions, const std::string& transposes) {
  const std::vector<std::string> parts = split(transposes, ',');
  if (parts.empty()) throw UsageError("--trans: no transposes given");
  std::vector<GemmKind> kinds;
  for (const Precision precision : precisions) {
    for (const std::string& part : parts) {
      if (part.size() != 2 || part.find_first_not_of("nt") != std::string::npos) {
        throw UsageError("--trans: '" + part + "' is none of nn, nt, tn, tt");
      }
      const GemmKind kind{precision, part[0] == 't', part[1] == 't'};
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  return kinds;
}

std::string trans_name(const GemmKind& kind) {
  return std::string(kind.trans_a ? "t" : "n") + (kind.trans_b ? "t" : "n");
}

double seconds_of(const std::string& text) {
  const std::map<std::string, double> units = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const auto unit = units.find(end);
  const double seconds = unit == units.end() ? 0 : value * unit->second;
  if (!(seconds >= 1) || !(seconds <= 1e7)) {
    throw UsageError("--budget: '" + text + "' is not a time of at least one second, such as 90s, 10m or 2h");
  }
  return seconds;
}

builder::release::Requirements requirements_of(const std::string& text) {
  builder::release::Requirements requirements;
  for (const std::string& word : split(text, ',')) {
    switch (number_of("require", word, std::array{"baked", "native", "proven", "jit-free", "any", "tried", "listed"})) {
      case 1: requirements.native = true; break;
      case 2: requirements.proven = true; break;
      case 3: requirements.jit_free = true; break;
      case 4: requirements.baked = false; break;
      case 5: requirements.tried = true; break;
      case 6: requirements.listed = true; break;
      default: break;
    }
  }
  return requirements;
}

Shard shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const Shard shard{static_cast<std::uint32_t>(digits(text.substr(0, slash), 4)),
                    static_cast<std::uint32_t>(slash == std::string::npos ? 0 : digits(text.substr(slash + 1), 4))};
  if (shard.index < 1 || shard.index > shard.count) {
    throw UsageError("--shard: '" + text + "' is not I/N, such as 2/4, from 1/N to N/N");
  }
  return shard;
}

Activation activation_of(const std::string& word) {
  return static_cast<Activation>(number_of("activation", word, activation_words));
}

std::string variant_name(const std::string& given) {
  const kernels::Preset* preset = kernels::find_preset(given);
  return preset ? kernels::name(preset->params) : given;
}

std::vector<kernels::Params> variants_named(const std::vector<std::string>& names) {
  std::vector<kernels::Params> variants;
  for (const std::string& name : names) {
    const kernels::Params params = variant_named(name);
    if (std::find(variants.begin(), variants.end(), params) == variants.end()) variants.push_back(params);
  }
  return variants;
}

}  // namespace clbake::tool
