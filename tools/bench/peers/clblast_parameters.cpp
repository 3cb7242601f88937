#include "bench/peers/clblast_parameters.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

namespace clbake::tool {
namespace {

// By the beginning of "kernel_family", which ends in the number of the tuner's stage.
constexpr std::pair<const char*, const char*> kKernels[] = {
    {"xgemm_direct_", "XgemmDirect"}, {"xgemm_", "Xgemm"}, {"gemm_routine", "GemmRoutine"}};

std::string kernel_of(const std::string& family) {
  for (const auto& [prefix, kernel] : kKernels) {
    if (family.rfind(prefix, 0) == 0) return kernel;
  }
  return {};
}

Result<std::string> field(const Json& json, const char* name) {
  if (!json.contains(name)) return {Code::malformed, std::string("no field '") + name + "': not the result of a tuner"};
  if (!json[name].is_string()) return {Code::malformed, std::string("field '") + name + "' is not text"};
  return json[name].get<std::string>();
}

// "KWG=32 MWG=64 ..."
Result<std::vector<std::pair<std::string, std::size_t>>> values_of(const std::string& text) {
  std::vector<std::pair<std::string, std::size_t>> values;
  for (const std::string& part : split(text, ' ')) {
    const std::size_t equals = part.find('=');
    const char* const end = part.data() + part.size();
    std::size_t value = 0;
    if (equals == std::string::npos || equals == 0 ||
        std::from_chars(part.data() + equals + 1, end, value).ptr != end || equals + 1 == part.size()) {
      return {Code::malformed, "field 'best_parameters': '" + part + "' is not NAME=NUMBER"};
    }
    values.emplace_back(part.substr(0, equals), value);
  }
  if (values.empty()) return {Code::malformed, "field 'best_parameters' is empty"};
  return values;
}

Result<ClblastParameters> parameters_of(const Json& json) {
  if (!json.is_object()) return {Code::malformed, "is not a JSON object, or is cut off"};
  const Result<std::string> family = field(json, "kernel_family");
  if (!family) return family.status();
  const Result<std::string> precision = field(json, "precision");
  if (!precision) return precision.status();
  const Result<std::string> best = field(json, "best_parameters");
  if (!best) return best.status();
  ClblastParameters parameters;
  parameters.kernel = kernel_of(*family);
  if (parameters.kernel.empty()) {
    return {Code::malformed, "field 'kernel_family': '" + *family + "' is none of GEMM's"};
  }
  if (*precision != "32" && *precision != "64") {
    return {Code::malformed, "field 'precision': '" + *precision + "' is neither 32 nor 64"};
  }
  parameters.precision = *precision == "32" ? 32 : 64;
  Result<std::vector<std::pair<std::string, std::size_t>>> values = values_of(*best);
  if (!values) return values.status();
  parameters.values = std::move(*values);
  return parameters;
}

}  // namespace

Result<ClblastParameters> read_clblast_parameters(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  file.peek();
  if (!file.is_open() || file.bad()) return {Code::io, path + ": " + std::strerror(errno)};
  Result<ClblastParameters> parameters = parameters_of(Json::parse(file, nullptr, false));
  if (!parameters) return parameters.status().within(path);
  return parameters;
}

}  // namespace clbake::tool
