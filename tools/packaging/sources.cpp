// clbake_sources FILE: a bundle of the kernels' sources, with the default variants for every CPU and every other device
// and nothing baked. The door from CLBlast holds it for programs that have no bundle.
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/programs.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/pack.hpp>
#include <clbake/cache/writer.hpp>

#include <cstdio>
#include <iterator>

using namespace clbake;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  cache::Contents contents = builder::build::merge_bundles({}).contents;  // the default variants
  for (const kernels::DeviceType type : kernels::all_device_types) {
    const cache::Target target = cache::any_device(type == kernels::DeviceType::cpu);
    for (const auto& program :
         builder::program::complex_programs(type, {std::begin(complex_precisions), std::end(complex_precisions)})) {
      add_job(contents, make_job(target, program));
    }
  }
  const Result<cache::Bytes> bytes = cache::pack(contents, {0, nullptr, {}, builder::release::digest_function()});
  const Status status = bytes ? cache::write_file(argv[1], {bytes->data(), bytes->size()}) : bytes.status();
  if (!status) std::fprintf(stderr, "clbake_sources: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
