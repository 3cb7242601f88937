#include "bench/bench_device.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/platforms.hpp>

#include <cstdlib>
#include <filesystem>

namespace clbake::tool {

BenchBundle open_bundle(const std::string& file, const std::string& spec) {
  for (const auto& [name, value] : builder::process::steady_environment()) setenv(name.c_str(), value.c_str(), 0);
  const Bundle bundle = need(open_verified(file));
  const builder::Device device = need(device_for(bundle, spec));
  return {bundle, {device, need(builder::Session::open(device))}};
}

Library open_library(const BenchDevice& on, const Bundle& bundle, const Options& options) {
  return need(Library::create(on.session.context(), on.device.id, {bundle}, options));
}

Served serve(const BenchDevice& on, const Bundle& bundle, const std::string& file) {
  Options baked_only;
  baked_only.on_miss = OnMiss::fail;
  return {std::filesystem::path(file).filename().string(), bundle, open_library(on, bundle, baked_only)};
}

}  // namespace clbake::tool
