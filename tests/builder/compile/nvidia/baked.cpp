#include "baked.hpp"

#include "files.hpp"

#include <clbake/builder/offline_targets.hpp>
#include <clbake/builder/programs.hpp>
#include "compile/offline/offline_compile.hpp"

#include <cstdlib>

namespace clbake::tests {

using namespace builder;

bool bakes_for(const std::string& architecture) {
  return bool(compile::offline_targets_named({"nvidia:" + architecture}));
}

cache::Bytes baked(const NvidiaProgram& program, const std::string& architecture) {
  const char* const folder = std::getenv("CLBAKE_TEST_CUBINS");
  const std::string path = std::string(folder ? folder : "") + "/" + program.name + "-" + architecture + ".cubin";
  const std::string kept = folder ? read_file(path) : std::string();
  if (!kept.empty()) return {kept.begin(), kept.end()};
  builder::program::Program source;
  source.name = program.name;
  source.source = {program.name + ".cl", program.text};
  source.options = program.options;
  for (const NvidiaKernel& kernel : program.kernels) {
    cache::Launch launch{cache::Role::kernel, kernel.name, {1, 1, 1}, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) launch.local[d] = static_cast<std::uint32_t>(kernel.local[d]);
    source.launches.push_back(launch);
  }
  const auto targets = required(compile::offline_targets_named({"nvidia:" + architecture}));
  const auto entries = required(compile::compile_offline(make_job(targets.front().device.target, source)));
  if (folder) write_file(path, {entries.front().program.begin(), entries.front().program.end()});
  return entries.front().program;
}

}  // namespace clbake::tests
