#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <clbake/builder/offline_targets.hpp>

#include <cstdio>

namespace clbake::tool {
namespace {

Json tool_json(const builder::compile::Tool& tool) {
  return {{"name", tool.name}, {"path", tool.path}, {"version", tool.version}, {"package", tool.package}};
}

// "with clang 15.0.6, libclc, ptxas 13.0.88"
std::string with_tools(const builder::compile::OfflineTarget& target) {
  std::string text;
  for (const builder::compile::Tool& tool : target.tools) {
    text += (text.empty() ? "with " : ", ") + tool.name + (tool.version.empty() ? "" : " " + tool.version);
  }
  return text;
}

Json target_json(const builder::compile::OfflineTarget& target) {
  Json tools = Json::array();
  for (const builder::compile::Tool& tool : target.tools) tools.push_back(tool_json(tool));
  return {{"name", target.name},
          {"available", target.obstacle.empty()},
          {"obstacle", target.obstacle.empty() ? Json() : Json(target.obstacle)},
          {"fp64", target.device.limits.fp64},
          {"target", to_json(target.device.target)},
          {"tools", tools}};
}

}  // namespace

int targets(const std::vector<std::string>& arguments) {
  Cli cli("targets [OPTIONS]", "Lists the devices that 'build --target' can compile for without having them.");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  Json list = Json::array();
  for (const builder::compile::OfflineTarget& target : need(builder::compile::offline_targets())) {
    list.push_back(target_json(target));
    if (cli.has("json")) continue;
    const std::string how = target.obstacle.empty() ? with_tools(target) : "unavailable: " + target.obstacle;
    std::printf("%-14s %s\n", target.name.c_str(), how.c_str());
  }
  if (cli.has("json")) print({{"targets", list}});
  return kSuccess;
}

}  // namespace clbake::tool
