#include "libraries.hpp"

#include "log.hpp"

#include <clbake/os/guest.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/paths.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#ifdef CLBAKE_DOOR_HAS_SOURCES
#include "sources_clbake.h"
#endif

namespace clbake::door {
namespace {

constexpr std::size_t kMost = 16;

struct Kept {
  cl_context context;
  cl_device_id device;
  Library library;
};

struct State {
  std::mutex mutex;
  std::vector<Kept> kept;  // the latest first
  std::uint64_t clears = 0;
  std::optional<Bundle> named;  // by use_bundle
  const std::uint64_t process = os::process_id();
};

// Never destroyed: static objects of a program may multiply in their destructors.
State& state() {
  static State& only = *new State;
  return only;
}

thread_local bool told_of_miss = false;

void add(std::vector<Bundle>& list, const Result<Bundle>& bundle, const std::string& name) {
  log("bundle: " + (bundle ? name : bundle.status().message()));
  if (bundle) list.push_back(*bundle);
}

std::string beside_library() {
  const std::string path = os::path_of_module(reinterpret_cast<const void*>(&use_bundle));
  return path.empty() ? path : path.substr(0, path.rfind('/')) + "/clbake/clblast.clbake";
}

const std::string& installed_bundle() {
  static const std::string& path = *new std::string(beside_library());
  return path;
}

// Found when this library is loaded: its name may be relative, and the program may go to another folder later.
[[maybe_unused]] const std::string& found_at_load = installed_bundle();

std::vector<Bundle> open_bundles() {
  std::vector<Bundle> list;
  const std::string named = environment("CLBAKE_CLBLAST_BUNDLE");
  for (std::size_t at = 0; at < named.size();) {
    const std::size_t end = std::min(named.find(os::kListSeparator, at), named.size());
    if (end > at) add(list, Bundle::open(named.substr(at, end - at)), named.substr(at, end - at));
    at = end + 1;
  }
  const std::string& installed = installed_bundle();
  const Result<Bundle> beside = Bundle::open(installed);
  if (beside.status().code() != Code::not_found) add(list, beside, installed);
#ifdef CLBAKE_DOOR_HAS_SOURCES
  add(list, Bundle::from_memory({sources_clbake, sources_clbake_size}), "sources of the kernels");
#endif
  if (list.empty()) log("no bundle: GEMM goes to CLBlast");
  return list;
}

// The programs that earlier processes compiled.
std::shared_ptr<OverlayStore> overlay() {
  if (environment("CLBAKE_CLBLAST_OVERLAY") == "off") return nullptr;
  const Result<std::string> directory = user_cache_directory("clblast");
  const auto opened = directory ? open_overlay({*directory, OverlayMode::read_write})
                                : Result<std::shared_ptr<OverlayStore>>(directory.status());
  if (opened) return *opened;
  log("overlay: " + opened.status().message());
  return nullptr;
}

void write_log(LogLevel, const char* message, void*) {
  told_of_miss = true;
  log(message);
}

Result<Library> create(cl_context context, cl_device_id device) {
  static const std::vector<Bundle>& opened = *new std::vector<Bundle>(open_bundles());
  std::vector<Bundle> from = opened;
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (state().named) from.insert(from.begin(), *state().named);
  }
  if (from.empty()) return {Code::no_program, "there is no bundle"};
  Options options;
  options.on_miss = OnMiss::fallback;
  options.overlay = overlay();
  options.log = write_log;
  return Library::create(context, device, from, options);
}

// The kept library, which becomes the latest. The caller holds the lock.
std::optional<Library> find(cl_context context, cl_device_id device) {
  std::vector<Kept>& kept = state().kept;
  const auto at =
      std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.context == context && k.device == device; });
  if (at == kept.end()) return std::nullopt;
  std::rotate(kept.begin(), at, at + 1);
  return kept.front().library;
}

// Releases nothing, as drivers may be gone. A forked child has no threads to wait for.
void finish() {
  if (os::process_id() != state().process) return;
  std::unique_lock<std::mutex> lock(state().mutex);
  const std::vector<Kept> all = state().kept;
  lock.unlock();
  for (const Kept& kept : all) kept.library.finish();
}

}  // namespace

Result<Library> library_for(cl_context context, cl_device_id device) {
  std::uint64_t clears = 0;
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    if (const std::optional<Library> kept = find(context, device)) return *kept;
    clears = state().clears;
  }
  Result<Library> created = create(context, device);
  if (!created) return created;
  std::vector<Kept> dropped;  // released without the lock
  const std::lock_guard<std::mutex> lock(state().mutex);
  // Another thread may have made one meanwhile, or cleared all: then the new one, perhaps of earlier bundles, serves
  // this call only.
  if (const std::optional<Library> kept = find(context, device)) return *kept;
  if (clears != state().clears) return created;
  std::vector<Kept>& kept = state().kept;
  kept.insert(kept.begin(), {context, device, *created});
  if (kept.size() > kMost) {
    dropped.push_back(std::move(kept.back()));
    kept.pop_back();
  }
  return created;
}

void clear_libraries() {
  std::vector<Kept> dropped;  // released without the lock
  const std::lock_guard<std::mutex> lock(state().mutex);
  dropped.swap(state().kept);
  ++state().clears;
}

Status use_bundle(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  log("use_bundle: " + (bundle ? path : bundle.status().message()));
  if (!bundle) return bundle.status();
  std::unique_lock<std::mutex> lock(state().mutex);
  state().named = *bundle;
  lock.unlock();
  clear_libraries();
  return {};
}

// Before the handlers of the compiler, which has begun to work.
void wait_at_exit_after_a_miss() {
  if (std::exchange(told_of_miss, false)) os::before_exit(finish);
}

}  // namespace clbake::door
