#include "cli/arguments.hpp"

#include "cli/cli.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace clbake::tool {
namespace {

// Unlike split() it keeps empty parts, for "512x" is not a size.
std::vector<std::string> factors(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == 'x') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::size_t whole_number(const std::string& text, const std::string& size) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw UsageError("--sizes: '" + size + "' is neither N nor MxNxK");
  }
  return std::stoul(text);
}

}  // namespace

std::vector<Size> sizes_of(const std::string& text) {
  std::vector<Size> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> numbers = factors(part);
    if (numbers.size() != 1 && numbers.size() != 3) throw UsageError("--sizes: '" + part + "' is neither N nor MxNxK");
    const Size size{whole_number(numbers.front(), part), whole_number(numbers[numbers.size() / 2], part),
                    whole_number(numbers.back(), part)};
    if (size.m == 0 || size.n == 0 || size.k == 0) throw UsageError("--sizes: '" + part + "': a size is 0");
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
    if (word == "native") {
      requirements.native = true;
    } else if (word == "proven") {
      requirements.proven = true;
    } else if (word == "jit-free") {
      requirements.jit_free = true;
    } else if (word == "any") {
      requirements.baked = false;
    } else if (word != "baked") {
      throw UsageError("--require: '" + word + "' is none of baked, native, proven, jit-free and any");
    }
  }
  return requirements;
}

Shard shard_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, '/');
  const auto digits = [](const std::string& part) {
    return !part.empty() && part.size() <= 4 && part.find_first_not_of("0123456789") == std::string::npos;
  };
  if (parts.size() != 2 || !digits(parts[0]) || !digits(parts[1])) {
    throw UsageError("--shard: '" + text + "' is not I/N, such as 2/4");
  }
  const Shard shard{static_cast<std::uint32_t>(std::stoul(parts[0])), static_cast<std::uint32_t>(std::stoul(parts[1]))};
  if (shard.index < 1 || shard.index > shard.count) {
    throw UsageError("--shard: '" + text + "': shards are numbered from 1/N to N/N");
  }
  return shard;
}

}  // namespace clbake::tool
