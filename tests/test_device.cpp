#include "test_device.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/builder/scratch.hpp>
#include <clbake/os/environment.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace clbake::tests {
namespace {

using namespace builder;
using namespace builder::process;

[[noreturn]] void skip(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}

Device choose_device() {
  static const Result<ScratchDirectory> cache = ScratchDirectory::create();
  if (!cache) throw std::runtime_error(cache.status().message());
  for (const auto& [name, value] : driver_cache_environment(cache->path())) {
    const bool is_set = name == "POCL_KERNEL_CACHE" && os::variable(name);  // a test switches it off
    if (!is_set) os::set_variable(name, value);
  }
  const Result<std::vector<Device>> all = list_devices();
  if (all.status().code() == Code::no_device) skip(all.status().message());
  if (!all) throw std::runtime_error(all.status().message());
  const Result<std::vector<Device>> pocl = select_devices(*all, "Portable Computing Language");
  return pocl ? pocl->front() : all->front();
}

}  // namespace

const Device& device() {
  static const Device chosen = choose_device();
  return chosen;
}

bool on_pocl() { return platform_of(device().target).id == PlatformId::pocl; }

}  // namespace clbake::tests
