// masked_cpu bake FILE; masked_cpu serve FILE: a bundle of the driver in memory, whose device is the CPU that this
// process runs on, for masked_cpu.sh. `serve` says how a product was served, or why not, and in how many programs the
// driver was shown machine code.
#include "faults/fake_scene.hpp"

#include <cstdio>
#include <cstring>

using namespace clbake;
using namespace clbake::test;

namespace {

int bake(const char* path) {
  const Status written = cache::write_file(path, {bundle_bytes().data(), bundle_bytes().size()});
  std::printf("%s\n", written ? bundle_contents().targets[0].cpu_features.c_str() : written.message().c_str());
  return written ? 0 : 1;
}

int serve(const char* path) {
  const Scene scene;
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return std::puts(bundle.status().message().c_str()), 1;
  Options options;
  options.on_miss = OnMiss::fail;
  const Result<Library> library = Library::create(scene.context, scene.device, {*bundle}, options);
  if (!library) return std::puts(library.status().message().c_str()), 1;
  const Result<Gemm> gemm = library->prepare(problem_of(Case::native));
  std::printf("%s; %zu programs\n", gemm ? name(gemm->explanation().origin) : gemm.status().message().c_str(),
              fake::calls(fake::Function::clCreateProgramWithBinary));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "bake") == 0) return bake(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "serve") == 0) return serve(argv[2]);
  return 2;
}
