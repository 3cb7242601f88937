// make_golden_bundle FILE: a bundle for a device that exists nowhere, with the direct family's source. On every real
// device it is a miss, so it shows what a runtime without generator and builder can do.
#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>

#include <cstdio>

using namespace clbake;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  cache::Contents contents;
  Target nowhere;
  nowhere.platform_name = "No Platform";
  nowhere.device_name = "No Device";
  nowhere.address_bits = 64;
  contents.targets = {nowhere};
  cache::Profile profile;
  for (const auto precision : {Precision::single_precision, Precision::double_precision}) {
    for (const kernels::Params& params : kernels::default_variants(kernels::DeviceType::gpu, precision)) {
      if (params.family != kernels::Family::direct) continue;
      builder::Job job = builder::make_job(nowhere, kernels::generate(params), params);
      contents.sources = {job.source};
      contents.variants.push_back(job.variant);
      cache::Entry entry;
      entry.variant = static_cast<std::uint32_t>(contents.variants.size() - 1);
      entry.program = {'n', 'o', 't', ' ', 'a', ' ', 'p', 'r', 'o', 'g', 'r', 'a', 'm'};
      contents.entries.push_back(entry);
      cache::Rule rule;
      rule.kind() = job.variant.kind();
      rule.variant = entry.variant;
      profile.defaults.push_back(rule);
    }
  }
  contents.profiles = {profile};
  const Result<cache::Bytes> bytes = cache::encode(contents);
  const Status status = bytes ? cache::write_file(argv[1], {bytes->data(), bytes->size()}) : bytes.status();
  if (!status) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status ? 0 : 1;
}
