// source_bundle FILE NAME...: writes a bundle with the sources of these variants, and nothing compiled from them.
#include <clbake/builder/jobs.hpp>
#include "files.hpp"

using namespace clbake;

int main(int argc, char** argv) {
  cache::Contents contents;
  contents.targets = {cache::any_device(true)};
  for (int i = 2; i < argc; ++i) {
    const auto params = std::get<kernels::Params>(kernels::parse(argv[i]));
    builder::Job job = builder::make_job(contents.targets[0], kernels::generate(params), params);
    job.variant.source = static_cast<std::uint32_t>(contents.sources.size());
    contents.sources.push_back(job.source);
    contents.variants.push_back(job.variant);
  }
  tests::write_bundle(argv[1], contents);
}
