// in_container BUNDLE [SHARED]: an application with an overlay in the user's cache over a shared one, on the driver in
// memory; makes the bundle if it is not there. Prints the overlay's directory or why there is none, whether it opened,
// and what served a product that is baked and one that is not. For in_container.sh.
#include "faults/fake_scene.hpp"

#include <cstdio>

using namespace clbake;
using namespace clbake::test;

namespace {

std::string served(const Library& library, Case which) {
  const Result<Gemm> gemm = prepare(library, problem_of(which));
  return gemm ? name(gemm->explanation().origin) : gemm.status().message();
}

Result<Bundle> bundle_at(const char* path) {
  if (Bundle::open(path).status().code() == Code::not_found) {
    static_cast<void>(cache::write_file(path, {bundle_bytes().data(), bundle_bytes().size()}));
  }
  return Bundle::open(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const Scene scene;
  const Result<Bundle> bundle = bundle_at(argv[1]);
  if (!bundle) return std::puts(bundle.status().message().c_str()), 1;

  OverlayOptions where;
  const Result<std::string> directory = user_cache_directory("app");
  if (directory) where.directory = *directory;
  if (directory) where.mode = OverlayMode::read_write;
  if (argc > 2) where.shared = argv[2];
  Result<std::shared_ptr<OverlayStore>> overlay = open_overlay(where);
  std::printf("%s: %s\n", directory ? directory->c_str() : "no cache directory",
              overlay ? "opened" : std::string(name(overlay.status().code())).c_str());
  if (!overlay && argc > 2) {
    where.mode = OverlayMode::off;
    overlay = open_overlay(where);
  }
  Options options;
  if (overlay) options.overlay = *overlay;
  const Result<Library> library = Library::create(scene.context, scene.device, {*bundle}, options);
  if (!library) return std::puts(library.status().message().c_str()), 1;
  const std::string baked = served(*library, Case::native), other = served(*library, Case::source);
  library->finish();
  std::printf("%s %s\n", baked.c_str(), other.c_str());
}
