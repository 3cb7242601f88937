#include <clbake/builder/jobs.hpp>

#include <algorithm>

namespace clbake::builder {
namespace {

cache::Role role_of(kernels::Role role) {
  switch (role) {
    case kernels::Role::pack_a: return cache::Role::pack_a;
    case kernels::Role::pack_b: return cache::Role::pack_b;
    case kernels::Role::reduce: return cache::Role::reduce;
    case kernels::Role::row_terms: return cache::Role::row_terms;
    case kernels::Role::column_terms: return cache::Role::column_terms;
    case kernels::Role::group: return cache::Role::group;
    case kernels::Role::gemm: break;
  }
  return cache::Role::gemm;
}

}  // namespace

Job make_job(const Target& target, const kernels::Kernel& kernel, const kernels::Params& params) {
  Job job;
  job.target = target;
  job.source = {kernel.source_name, kernel.source};
  job.variant.name = kernel.name;
  job.variant.family = kernels::name(params.family);
  job.variant.kind() = params.kind();
  job.variant.contract = kernels::contract_version;
  job.variant.build_options = kernel.build_options;
  job.variant.image_a = params.layout_a == kernels::Layout::image;
  job.variant.image_b = params.layout_b == kernels::Layout::image;
  job.variant.block_m = params.ml;
  job.variant.block_n = params.nl;
  job.variant.block_k = params.kl;
  job.variant.split_k = params.split_k;
  for (const kernels::Launch& from : kernel.launches) {
    cache::Launch launch;
    launch.role = role_of(from.role);
    launch.kernel_name = from.kernel_name;
    std::copy(from.local, from.local + 3, launch.local);
    launch.tile_m = from.tile_m;
    launch.tile_n = from.tile_n;
    job.variant.launches.push_back(std::move(launch));
  }
  return job;
}

bool same_work(const Job& a, const Job& b) {
  // Few of the many jobs that are compared get as far as the copies.
  return a.target == b.target && a.trial == b.trial && a.variant.build_options == b.variant.build_options &&
         a.source == b.source && identifying_bytes(a.variant, a.source) == identifying_bytes(b.variant, b.source);
}

Result<cache::Bytes> encode_job(const Job& job, cache::Packing packing) {
  cache::Contents contents;
  contents.targets = {job.target};
  contents.sources = {job.source};
  cache::Variant variant = job.variant;
  variant.source = 0;
  set_trial(contents, variant, job.trial);
  contents.variants = {std::move(variant)};
  contents.entries = job.entries;
  for (cache::Entry& entry : contents.entries) entry.target = entry.variant = 0;
  return cache::encode(contents, packing);
}

Status write_job(const std::string& path, const Job& job) {
  const Result<cache::Bytes> bytes = encode_job(job, cache::Packing::plain);
  if (!bytes) return bytes.status().within(path);
  return cache::write_file(path, {bytes->data(), bytes->size()});
}

Result<Job> read_job(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  Result<cache::Contents> contents = bundle->decode();
  if (!contents) return contents.status().within(path);
  if (contents->targets.size() != 1 || contents->variants.size() != 1 || contents->entries.size() > 2) {
    return {Code::malformed, path + ": not a bundle of one variant"};
  }
  cache::Variant& variant = contents->variants[0];
  const std::string trial = trial_of(*contents, variant);
  return Job{std::move(contents->targets[0]), std::move(contents->sources[variant.source]), std::move(variant),
             std::move(contents->entries), trial};
}

std::vector<Job> jobs_of(const cache::Contents& contents) {
  std::vector<Job> jobs;
  const cache::Entry* last = nullptr;  // the forms of one variant are neighbours
  for (const cache::Entry& entry : contents.entries) {
    const cache::Variant& variant = contents.variants[entry.variant];
    const bool same = last && last->target == entry.target && last->variant == entry.variant;
    if (!same) {
      jobs.push_back(
          {contents.targets[entry.target], contents.sources[variant.source], variant, {}, trial_of(contents, variant)});
    }
    jobs.back().entries.push_back(entry);
    last = &entry;
  }
  return jobs;
}

Result<std::vector<Job>> jobs_of(const Bundle& bundle) {
  const Result<cache::Contents> contents = bundle.decode();
  if (!contents) return contents.status();
  return jobs_of(*contents);
}

std::set<std::string> launched_kernels(const cache::Variant& variant) {
  std::set<std::string> kernels;
  for (const cache::Launch& launch : variant.launches) kernels.insert(launch.kernel_name);
  return kernels;
}

const std::string& trial_of(const cache::Contents& contents, const cache::Variant& variant) {
  static const std::string none;
  return variant.trial == 0 ? none : contents.sources[variant.trial - 1].text;
}

void set_trial(cache::Contents& contents, cache::Variant& variant, const std::string& trial) {
  variant.trial = trial.empty() ? 0 : 1 + index_in(contents.sources, cache::Source{"trial.json", trial});
}

std::uint32_t add_job(cache::Contents& contents, const Job& job) {
  const std::uint32_t target = index_in(contents.targets, job.target);
  const auto known = std::find_if(contents.variants.begin(), contents.variants.end(),
                                  [&](const cache::Variant& variant) { return variant.name == job.variant.name; });
  const auto index = static_cast<std::uint32_t>(known - contents.variants.begin());
  cache::Variant variant = job.variant;
  variant.source = index_in(contents.sources, job.source);
  if (known == contents.variants.end()) {
    set_trial(contents, variant, job.trial);
    contents.variants.push_back(std::move(variant));
  }
  for (cache::Entry entry : job.entries) {
    entry.target = target;
    entry.variant = index;
    contents.entries.push_back(std::move(entry));
  }
  return index;
}

}  // namespace clbake::builder
