// A job: one variant for one device. Between the processes and between runs it travels as a bundle of one variant,
// so every byte of it is checksummed.
#pragma once

#include <clbake/builder/devices.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/kernels/generator.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder {

// The only variant of a one-variant bundle, with all it refers to.
struct Job {
  Target target;
  cache::Source source;
  cache::Variant variant;
  std::vector<cache::Entry> entries;  // none before compilation; else one, or the native and the portable one
  std::string trial;  // of a program: how a proof tries its kernels (trial.hpp); in a bundle a source of its own
};

// The device's target and a kernel of the generator.
Job make_job(const Target& target, const kernels::Kernel& kernel, const kernels::Params& params);

// Same work: target, variant, source and trial agree in everything.
bool same_work(const Job& a, const Job& b);

// The bundle of this variant only.
Result<cache::Bytes> encode_job(const Job& job, cache::Packing packing);

// Plain: it is read soon, and once or twice.
Status write_job(const std::string& path, const Job& job);

// Verifies every byte. Fails like Bundle::open, or with malformed when the bundle holds more than one variant.
Result<Job> read_job(const std::string& path);

// The entries of a bundle, sorted as `encode` sorts them, as jobs: one for each target and variant.
std::vector<Job> jobs_of(const cache::Contents& contents);
Result<std::vector<Job>> jobs_of(const Bundle& bundle);

// The names of the kernels that the variant launches.
std::set<std::string> launched_kernels(const cache::Variant& variant);

// The index of the item, which is added if it is not there.
template <typename T>
std::uint32_t index_in(std::vector<T>& list, const T& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  const auto index = static_cast<std::uint32_t>(found - list.begin());
  if (found == list.end()) list.push_back(item);
  return index;
}

// The trial of a variant of the bundle; empty when it has none.
const std::string& trial_of(const cache::Contents& contents, const cache::Variant& variant);

// Adds the trial, unless it is empty, and makes it the variant's.
void set_trial(cache::Contents& contents, cache::Variant& variant, const std::string& trial);

// Adds a job's variant and entries; equal targets, sources and variants of one name are shared. The variant's index.
std::uint32_t add_job(cache::Contents& contents, const Job& job);

}  // namespace clbake::builder
