#include "bench/workbench.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/scratch.hpp>

#include <cstdlib>

namespace clbake::tool {

Result<Workbench> open_workbench(const std::string& file, const std::string& spec, const Options& options) {
  for (const auto& [name, value] : builder::steady_environment()) setenv(name.c_str(), value.c_str(), 0);
  Result<Bundle> bundle = open_verified(file);
  if (!bundle) return bundle.status();
  Result<builder::Device> device = device_for(*bundle, spec);
  if (!device) return device.status();
  Result<builder::Session> session = builder::Session::open(*device);
  if (!session) return session.status();
  Result<Library> library = Library::create(session->context(), device->id, {*bundle}, options);
  if (!library) return library.status();
  return Workbench{std::move(*bundle), std::move(*device), std::move(*session), std::move(*library)};
}

}  // namespace clbake::tool
