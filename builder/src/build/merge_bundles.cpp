#include <clbake/builder/jobs.hpp>
#include <clbake/builder/merge_bundles.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/builder/release/split.hpp>
#include <clbake/cache/limits.hpp>
#include <clbake/cache/reader.hpp>
#include <clbake/os/listing.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/program_text.hpp>
#include "process/need.hpp"
#include "profile/kind_choice.hpp"
#include "profile/untuned_profile.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace clbake::builder::build {
namespace {

namespace fs = std::filesystem;

// The name of an overlay's file: 32 hexadecimal digits.
bool is_of_overlay(const std::string& path) {
  const std::string name = os::stem_of(path);
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool better(const cache::Proof& a, const cache::Proof& b) {
  return std::tie(a.proven, a.jit_free) > std::tie(b.proven, b.jit_free);
}

// True for one program, whatever is known of its launches.
bool is_same_content(const cache::Variant& a, const cache::Variant& b) {
  return a.content == b.content && a.content != cache::no_content;
}

// Adds the launches that the program does not have yet, and sorts them, so that the order of the bundles does not
// matter.
void add_launches(const cache::Variant& from, cache::Variant& to) {
  const auto key = [](const cache::Launch& launch) {
    return std::tie(launch.kernel_name, launch.local[0], launch.local[1], launch.local[2]);
  };
  const auto same = [&](const cache::Launch& a, const cache::Launch& b) { return key(a) == key(b); };
  std::vector<cache::Launch>& all = to.launches;
  if (std::equal(all.begin(), all.end(), from.launches.begin(), from.launches.end(), same)) return;
  all.insert(all.end(), from.launches.begin(), from.launches.end());
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  all.resize(std::min(all.size(), cache::kMaxLaunches));
}

// Takes one bundle after the other.
class Merger {
 public:
  void add(NamedBundle bundle) {
    const cache::Contents& from = bundle.contents;
    targets_.clear();
    variants_.clear();
    std::vector<bool> has_entries(from.variants.size());
    for (const cache::Entry& entry : from.entries) has_entries[entry.variant] = true;
    for (const cache::Target& target : from.targets) targets_.push_back(index_in(merged_.contents.targets, target));
    for (std::size_t v = 0; v < from.variants.size(); ++v) {
      variants_.push_back(add_variant(from.variants[v], from, bundle.file, has_entries[v]));
    }
    for (const cache::Profile& profile : from.profiles) add_profile(profile);
    for (cache::Entry& entry : bundle.contents.entries) add_entry(std::move(entry));
  }

  MergedBundle take() { return std::move(merged_); }

 private:
  // The variant's index in the merged bundle; nothing when another one has its name. A variant of GEMM that only has a
  // source contradicts nothing: the rules that name it are as good with the other one.
  std::optional<std::uint32_t> add_variant(const cache::Variant& variant, const cache::Contents& from,
                                           const std::string& file, bool has_entries) {
    cache::Contents& into = merged_.contents;
    const cache::Source& source = from.sources[variant.source];
    auto [at, is_new] =
        by_name_.try_emplace(variant.name, Known{static_cast<std::uint32_t>(into.variants.size()), file, has_entries});
    Known& known = at->second;
    if (is_new) into.variants.emplace_back();
    cache::Variant& present = into.variants[known.index];
    const bool of_gemm = !variant.is_program();
    if (is_new || (of_gemm && has_entries && !known.has_entries)) {
      known = {known.index, file, has_entries};
      present = variant;
      present.source = index_in(into.sources, source);
      set_trial(into, present, trial_of(from, variant));
      return known.index;
    }
    const bool same = is_same_content(present, variant) ||
                      identifying_bytes(present, into.sources[present.source]) == identifying_bytes(variant, source);
    if (same && !of_gemm) add_launches(variant, present);
    if (same && present.trial == 0) set_trial(into, present, trial_of(from, variant));
    if (same || (of_gemm && !has_entries)) {
      known.has_entries = known.has_entries || has_entries;
      return known.index;
    }
    merged_.left_out.push_back(file + ": variant " + variant.name + " is another one than in " + known.file);
    return std::nullopt;
  }

  // The first bundle whose profile of the target says anything of a kind of problem decides it.
  void add_profile(cache::Profile profile) {
    const std::uint32_t target = targets_[profile.target];
    std::vector<cache::Profile>& profiles = merged_.contents.profiles;
    auto present = std::find_if(profiles.begin(), profiles.end(),
                                [&](const cache::Profile& known) { return known.target == target; });
    if (present == profiles.end()) present = profiles.insert(present, {target, profile.units, {}, {}, {}});
    const std::set<GemmKind> known = profile::kinds_of(*present);
    profile::keep_if(profile, [&](const GemmKind&, std::uint32_t variant) { return variants_[variant].has_value(); });
    profile::for_each_variant(profile, [&](std::uint32_t& variant) { variant = *variants_[variant]; });
    for (const GemmKind& kind : profile::kinds_of(profile)) {
      if (known.count(kind) == 0) profile::add_kind(profile, kind, *present);
    }
  }

  void add_entry(cache::Entry entry) {
    const std::optional<std::uint32_t> variant = variants_[entry.variant];
    if (!variant) return;
    entry.target = targets_[entry.target];
    entry.variant = *variant;
    std::vector<cache::Entry>& entries = merged_.contents.entries;
    const auto [known, is_new] = entries_.try_emplace({entry.target, entry.variant, entry.form}, entries.size());
    if (is_new) {
      entries.push_back(std::move(entry));
    } else if (better(entry.proof, entries[known->second].proof)) {
      entries[known->second] = std::move(entry);
    }
  }

  struct Known {
    std::uint32_t index;  // into the merged variants
    std::string file;     // the first that has it, or the first that has entries of it
    bool has_entries;
  };
  MergedBundle merged_;
  std::map<std::string, Known> by_name_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, cache::Form>, std::size_t> entries_;
  // Indices into the merged bundle, by those of the bundle that is being added.
  std::vector<std::uint32_t> targets_;
  std::vector<std::optional<std::uint32_t>> variants_;
};

// The slices of an index; each is verified as a bundle, too.
void read_index(const std::string& path, std::vector<NamedBundle>& bundles) {
  const std::vector<release::StoredSlice> slices = need(release::read_slices(path));
  for (const release::StoredSlice& slice : slices) {
    bundles.push_back(need(read_bundle(slice.bundle, slice.path)));
  }
}

// The directory's files of this extension, in the order of their names.
std::vector<std::string> files_in(const std::string& directory, const std::string& extension) {
  std::vector<std::string> files;
  const Result<std::vector<os::Item>> items = os::list_directory(directory);
  if (!items) throw Failure({Code::io, items.status().message()});
  for (const os::Item& item : *items) {
    if (item.name == os::stem_of(item.name) + extension) files.push_back(item.path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<NamedBundle> read_bundle(const std::string& path) {
  const Result<cache::Bundle> bundle = cache::Bundle::open(path);
  return bundle ? read_bundle(*bundle, path) : bundle.status();
}

Result<NamedBundle> read_bundle(const cache::Bundle& bundle, const std::string& path) {
  Status whole = bundle.is_index() ? Status(Code::malformed, "is an index of slices, which has no programs itself")
                                   : bundle.verify();
  if (whole) whole = release::check_digests(bundle);
  if (!whole) return whole.within(path);
  const Result<std::vector<cache::Signature>> signatures = bundle.signatures();
  if (!signatures) return signatures.status().within(path);
  Result<cache::Contents> contents = bundle.decode();
  if (!contents) return contents.status().within(path);
  NamedBundle read{path, std::move(*contents), signatures->size()};
  if (!is_of_overlay(path)) return read;
  // Runtimes prove nothing: whatever such a file says, it has not been proven.
  for (cache::Entry& entry : read.contents.entries) {
    std::string log = std::move(entry.proof.log);
    entry.proof = cache::Proof();
    entry.proof.log = std::move(log);
  }
  return read;
}

Status read_bundles(const std::string& path, std::vector<NamedBundle>& bundles,
                    std::vector<std::string>& left_out) try {
  std::error_code ignored;  // of a path that is not there the opening will tell
  const std::string index = path + "/" + release::kIndexName;
  if (fs::exists(os::native(index), ignored)) return read_index(index, bundles), Status();  // beside other releases
  if (!fs::is_directory(os::native(path), ignored)) {
    if (release::is_index_file(path)) return read_index(path, bundles), Status();
    bundles.push_back(need(read_bundle(path)));
    return {};
  }
  // A store of bakes has an index for each device and driver, beside slices of earlier ones.
  const std::vector<std::string> indexes = files_in(path, release::kIndexExtension);
  for (const std::string& of_target : indexes) read_index(of_target, bundles);
  if (!indexes.empty()) return {};
  const std::vector<std::string> files = files_in(path, ".clbake");
  if (files.empty()) return {Code::not_found, "no bundle in " + path};
  for (const std::string& file : files) {
    Result<NamedBundle> bundle = read_bundle(file);
    if (bundle) {
      bundles.push_back(std::move(*bundle));
    } else {
      left_out.push_back(bundle.status().message());
    }
  }
  return {};
} catch (const Failure& failure) {
  return failure.status;
}

MergedBundle merge_bundles(std::vector<NamedBundle> bundles) {
  Merger merger;
  for (NamedBundle& bundle : bundles) merger.add(std::move(bundle));
  MergedBundle merged = merger.take();
  profile::add_default_targets(merged.contents);
  return merged;
}

void drop_trials(cache::Contents& contents) {
  std::vector<cache::Source> kept;
  for (cache::Variant& variant : contents.variants) {
    variant.trial = 0;
    const auto old = variant.source;
    const auto same = std::find(kept.begin(), kept.end(), contents.sources[old]);
    variant.source = static_cast<std::uint32_t>(same - kept.begin());
    if (same == kept.end()) kept.push_back(contents.sources[old]);
  }
  contents.sources = std::move(kept);
}

}  // namespace clbake::builder::build
