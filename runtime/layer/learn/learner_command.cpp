#include "learn/learner_command.hpp"

#include <clbake/layer_off.hpp>
#include <clbake/os/environment.hpp>

namespace clbake::learn {
namespace {

bool is_for_layers(const std::string& variable) {
  return variable == "OPENCL_LAYERS" || variable == "OPENCL_LAYER_PATH" || variable == "LD_PRELOAD" ||
         variable.rfind("CLBAKE_", 0) == 0;
}

}  // namespace

std::vector<std::string> learner_command(const SenderSettings& settings) {
  std::vector<std::string> arguments = {settings.learner, "learn", "--overlay", settings.overlay};
  if (settings.bytes != 0) {
    arguments.emplace_back("--max-bytes");
    arguments.push_back(std::to_string(settings.bytes));
  }
  if (!settings.log.empty()) {
    arguments.emplace_back("--log");
    arguments.push_back(settings.log);
  }
  return arguments;
}

std::map<std::string, std::string> learner_environment() {
  std::map<std::string, std::string> kept;
  for (auto& [name, value] : os::variables()) {
    if (!is_for_layers(name)) kept.emplace(name, value);
  }
  for (const auto& [name, value] : kLayerOff) kept[name] = value;
  return kept;
}

}  // namespace clbake::learn
