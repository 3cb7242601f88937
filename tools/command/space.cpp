// `clbake space`: the families, their parameters and values.
#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/kernels/space.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

Json values_of(const kernels::Axis& axis) {
  Json values = Json::array();
  for (const std::uint32_t value : axis.values) {
    const auto& words = axis.parameter.words;
    values.push_back(value < words.size() ? Json(words[value]) : Json(value));
  }
  return values;
}

}  // namespace

int space(const std::vector<std::string>& arguments) {
  Cli cli("space [OPTIONS]", "Lists the kernel families and their parameters, with meaning and values.");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  Json families = Json::array();
  for (const kernels::Family family : kernels::all_families) {
    Json parameters = Json::array();
    if (!cli.has("json")) std::printf("\n%s\n", std::string(kernels::name(family)).c_str());
    for (const kernels::Axis& axis : kernels::space(family).axes) {
      const Json values = values_of(axis);
      parameters.push_back({{"name", axis.parameter.name}, {"meaning", axis.parameter.meaning}, {"values", values}});
      if (cli.has("json")) continue;
      std::printf("  %-12s  %-39s ", std::string(axis.parameter.name).c_str(),
                  std::string(axis.parameter.meaning).c_str());
      for (const Json& value : values) std::printf(" %s", cell_text(value).c_str());
      std::printf("\n");
    }
    families.push_back({{"family", kernels::name(family)}, {"parameters", parameters}});
  }
  if (cli.has("json")) print({{"families", families}});
  return kSuccess;
}

}  // namespace clbake::tool
