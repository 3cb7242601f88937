#include <clbake/builder/jobs.hpp>
#include <clbake/cache/writer.hpp>

namespace clbake::builder {
namespace {

Precision precision_of(kernels::Precision precision) {
  return precision == kernels::Precision::single_precision ? Precision::single_precision : Precision::double_precision;
}

bool same_launch(const cache::Launch& a, const cache::Launch& b) {
  return a.kernel_name == b.kernel_name && std::equal(a.local, a.local + 3, b.local) && a.tile_m == b.tile_m &&
         a.tile_n == b.tile_n;
}

// Everything but the index of the source.
bool same_variant(const cache::Variant& a, const cache::Variant& b) {
  return a.name == b.name && a.family == b.family && a.precision == b.precision && a.trans_a == b.trans_a &&
         a.trans_b == b.trans_b && a.contract == b.contract && a.build_options == b.build_options &&
         std::equal(a.launches.begin(), a.launches.end(), b.launches.begin(), b.launches.end(), same_launch);
}

}  // namespace

Job make_job(const Target& target, const kernels::Kernel& kernel, const kernels::Params& params) {
  Job job;
  job.target = target;
  job.source = {kernel.source_name, kernel.source};
  job.variant.name = kernel.name;
  job.variant.family = kernels::name(params.family);
  job.variant.precision = precision_of(params.precision);
  job.variant.trans_a = params.trans_a;
  job.variant.trans_b = params.trans_b;
  job.variant.contract = kernels::contract_version;
  job.variant.build_options = kernel.build_options;
  cache::Launch launch;
  launch.kernel_name = kernel.kernel_name;
  std::copy(kernel.local, kernel.local + 3, launch.local);
  launch.tile_m = kernel.tile_m;
  launch.tile_n = kernel.tile_n;
  job.variant.launches = {std::move(launch)};
  return job;
}

bool same_work(const Job& a, const Job& b) {
  return a.target == b.target && a.source.name == b.source.name && a.source.text == b.source.text &&
         same_variant(a.variant, b.variant);
}

Status write_job(const std::string& path, const Job& job) {
  cache::Contents contents;
  contents.targets = {job.target};
  contents.sources = {job.source};
  contents.variants = {job.variant};
  contents.variants[0].source = 0;
  contents.entries = job.entry;
  for (cache::Entry& entry : contents.entries) entry.target = entry.variant = 0;
  const Result<cache::Bytes> bytes = cache::encode(contents);
  if (!bytes) return bytes.status().within(path);
  return cache::write_file(path, {bytes->data(), bytes->size()});
}

Result<Job> read_job(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Result<cache::Contents> contents = bundle->decode();
  if (!contents) return contents.status().within(path);
  if (contents->targets.size() != 1 || contents->variants.size() != 1 || contents->sources.size() != 1 ||
      contents->entries.size() > 1) {
    return {Code::malformed, path + ": not a bundle of one variant"};
  }
  return Job{std::move(contents->targets[0]), std::move(contents->sources[0]), std::move(contents->variants[0]),
             std::move(contents->entries)};
}

Result<std::vector<Job>> jobs_of(const Bundle& bundle) {
  Result<cache::Contents> contents = bundle.decode();
  if (!contents) return contents.status();
  std::vector<Job> jobs;
  for (cache::Entry& entry : contents->entries) {
    const cache::Variant& variant = contents->variants[entry.variant];
    jobs.push_back({contents->targets[entry.target], contents->sources[variant.source], variant, {std::move(entry)}});
  }
  return jobs;
}

}  // namespace clbake::builder
