#include "serve/bundles.hpp"

#include "environment.hpp"
#include "log.hpp"

#include <clbake/exceptions_to_status.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#ifdef CLBAKE_DOOR_HAS_SOURCES
#include "sources_clbake.h"
#endif

namespace clbake::door {
namespace {

// Never destroyed: a program may multiply until its very end.
struct Chosen {
  std::mutex mutex;
  std::optional<Bundle> bundle;
};
Chosen& chosen() {
  static Chosen& instance = *new Chosen;
  return instance;
}

void add(std::vector<Bundle>& list, const Result<Bundle>& bundle, const std::string& what) {
  log(bundle ? "bundle: " + what : "bundle: " + bundle.status().message());
  if (bundle) list.push_back(*bundle);
}

std::vector<Bundle> open_all() {
  std::vector<Bundle> list;
  const std::string named = environment("CLBAKE_CLBLAST_BUNDLE");
  for (std::size_t at = 0; at < named.size();) {
    const std::size_t end = std::min(named.find(':', at), named.size());
    if (end > at) add(list, Bundle::open(named.substr(at, end - at)), named.substr(at, end - at));
    at = end + 1;
  }
  const std::string installed = installed_bundle();
  if (!installed.empty() && access(installed.c_str(), F_OK) == 0) add(list, Bundle::open(installed), installed);
#ifdef CLBAKE_DOOR_HAS_SOURCES
  add(list, Bundle::from_memory({sources_clbake, sources_clbake_size}), "sources of the kernels");
#endif
  if (list.empty()) log("no bundle: GEMM goes to CLBlast");
  return list;
}

std::string beside_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&installed_bundle), &info) == 0) return {};
  char* const real = realpath(info.dli_fname, nullptr);
  if (!real) return {};
  std::string path(real);
  std::free(real);
  return path.substr(0, path.rfind('/')) + "/clbake/clblast.clbake";
}

// When the library is loaded: its name may be relative, and the program may go to another folder later.
[[maybe_unused]] const bool found_at_load = exceptions_to_status([] { return installed_bundle(), Status(); }).ok();

}  // namespace

std::string installed_bundle() {
  static const std::string& path = *new std::string(beside_library());
  return path;
}

std::vector<Bundle> bundles() {
  static const std::vector<Bundle>& opened = *new std::vector<Bundle>(open_all());
  std::vector<Bundle> list;
  {
    const std::lock_guard<std::mutex> lock(chosen().mutex);
    if (chosen().bundle) list.push_back(*chosen().bundle);
  }
  list.insert(list.end(), opened.begin(), opened.end());
  return list;
}

Status use_bundle(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  log("use_bundle: " + (bundle ? path : bundle.status().message()));
  if (!bundle) return bundle.status();
  const std::lock_guard<std::mutex> lock(chosen().mutex);
  chosen().bundle = *bundle;
  return {};
}

std::shared_ptr<OverlayStore> overlay() {
  if (environment("CLBAKE_CLBLAST_OVERLAY") == "off") return nullptr;
  const Result<std::string> directory = user_cache_directory("clblast");
  const auto opened = directory ? open_overlay({*directory, OverlayMode::read_write})
                                : Result<std::shared_ptr<OverlayStore>>(directory.status());
  if (opened) return *opened;
  log("overlay: " + opened.status().message());
  return nullptr;
}

}  // namespace clbake::door
