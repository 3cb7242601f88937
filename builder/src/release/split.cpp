#include <clbake/builder/release/split.hpp>

#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/blake2b.hpp>
#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/os/paths.hpp>
#include "process/need.hpp"
#include "profile/kind_choice.hpp"
#include "release/store_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace clbake::builder::release {
namespace {

namespace fs = std::filesystem;

// The variant's kind, a bit of Slice::kinds.
std::uint32_t kind_of(const cache::Variant& variant) {
  if (is_mixed(variant.precision)) return cache::kMixed;
  if (!variant.is_program()) return 1U << index_of(variant.kind());
  for (const auto& [precision, kinds] : {std::pair(Precision::complex_single, cache::kComplexSingle),
                                         std::pair(Precision::complex_double, cache::kComplexDouble)}) {
    if (variant.name.rfind(std::string("clbake-") + name(precision) + "-", 0) == 0) return kinds;
  }
  return cache::kOwnPrograms;
}

// The kinds that share a slice with the variant.
std::uint32_t group_of(const cache::Variant& variant) {
  if (variant.is_program() || is_mixed(variant.precision)) return kind_of(variant);
  return 0xFU << (4 * (static_cast<std::uint32_t>(variant.precision) - 1));
}

cache::ProgramKey key_of(const cache::Variant& variant) {
  cache::ProgramKey key;
  key.name = cache::xxh64(reinterpret_cast<const std::uint8_t*>(variant.name.data()), variant.name.size(), 0);
  for (int i = 0; i < 8; ++i) key.content |= std::uint64_t{variant.content[static_cast<std::size_t>(i)]} << (8 * i);
  return key;
}

// The records of one slice, by their indices in the whole bundle.
struct Cut {
  std::set<std::uint32_t> variants;
  std::vector<std::uint32_t> entries;
};

// These records alone. `target`: that of all entries, or kNoTarget.
cache::Contents cut_out(const cache::Contents& all, std::uint32_t target, const Cut& cut, bool with_trials) {
  cache::Contents made;
  std::map<std::uint32_t, std::uint32_t> sources, variants;  // new indices
  const auto add_source = [&](std::uint32_t source) {
    const auto [at, is_new] = sources.try_emplace(source, static_cast<std::uint32_t>(made.sources.size()));
    if (is_new) made.sources.push_back(all.sources[source]);
    return at->second;
  };
  for (const std::uint32_t v : cut.variants) {
    variants[v] = static_cast<std::uint32_t>(made.variants.size());
    cache::Variant variant = all.variants[v];
    variant.source = add_source(variant.source);
    variant.trial = variant.trial != 0 && with_trials ? 1 + add_source(variant.trial - 1) : 0;
    made.variants.push_back(std::move(variant));
  }
  if (target == cache::kNoTarget) return made;
  made.targets.push_back(all.targets[target]);
  for (const cache::Profile& of : all.profiles) {
    if (of.target != target) continue;
    cache::Profile profile = of;
    profile.target = 0;
    profile::keep_if(profile, [&](const GemmKind&, std::uint32_t v) { return variants.count(v) > 0; });
    profile::for_each_variant(profile, [&](std::uint32_t& v) { v = variants[v]; });
    if (!profile::kinds_of(profile).empty()) made.profiles.push_back(std::move(profile));
  }
  for (const std::uint32_t e : cut.entries) {
    cache::Entry& entry = made.entries.emplace_back(all.entries[e]);
    entry.target = 0;
    entry.variant = variants[entry.variant];
  }
  return made;
}

class Slicer {
 public:
  explicit Slicer(const cache::Contents& all) {
    for (const cache::Variant& variant : all.variants) groups_.push_back(group_of(variant));
    std::vector<bool> has_target(all.variants.size());
    const auto add = [&](std::uint32_t target, std::uint32_t variant) -> Cut& {
      has_target[variant] = true;
      Cut& cut = cuts_[{target, groups_[variant]}];
      cut.variants.insert(variant);
      return cut;
    };
    for (std::uint32_t e = 0; e < all.entries.size(); ++e) {
      add(all.entries[e].target, all.entries[e].variant).entries.push_back(e);
    }
    for (const cache::Profile& profile : all.profiles) {
      cache::Profile named = profile;
      profile::for_each_variant(named, [&](std::uint32_t& variant) { add(profile.target, variant); });
    }
    // For devices that have no slice of their own: the source of every program. With what nothing else names.
    for (std::uint32_t v = 0; v < all.variants.size(); ++v) {
      if (all.variants[v].is_program() || !has_target[v]) cuts_[{cache::kNoTarget, groups_[v]}].variants.insert(v);
    }
  }

  // By target and group.
  const std::map<std::pair<std::uint32_t, std::uint32_t>, Cut>& cuts() const { return cuts_; }

 private:
  std::vector<std::uint32_t> groups_;  // by variant
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cut> cuts_;
};

// The forms of each variant.
std::vector<std::uint32_t> forms_of(const cache::Contents& contents) {
  std::vector<std::uint32_t> forms(contents.variants.size(), cache::kSourceForm);
  for (const cache::Entry& entry : contents.entries) {
    const bool native = entry.form == cache::Form::native;
    forms[entry.variant] |= native ? cache::kNativeForm : cache::kPortableForm;
    if (native && entry.newer_driver) forms[entry.variant] |= cache::kNewerDriverForm;
  }
  return forms;
}

// The kinds that a slice serves, and their forms.
cache::Slice describe(const cache::Contents& contents, std::uint32_t target) {
  cache::Slice slice;
  slice.target = target;
  const std::vector<std::uint32_t> forms = forms_of(contents);
  for (std::size_t v = 0; v < forms.size(); ++v) {
    const std::uint32_t kind = kind_of(contents.variants[v]);
    slice.kinds |= kind;
    if (kind == cache::kOwnPrograms) continue;
    slice.forms |= std::uint64_t{forms[v] & cache::kBakedForms} << cache::forms_shift(kind);
  }
  return slice;
}

// Collects the table of the index.
class Table {
 public:
  explicit Table(std::uint64_t release) { table_.release = release; }

  void add(cache::Slice slice, const cache::Contents& contents) {
    if ((slice.kinds & cache::kOwnPrograms) != 0) {
      slice.set = static_cast<std::uint32_t>(programs_.size());
      auto& programs = programs_.emplace_back();
      const std::vector<std::uint32_t> forms = forms_of(contents);
      for (std::size_t v = 0; v < forms.size(); ++v) {
        programs.emplace_back(number_of(key_of(contents.variants[v])), forms[v]);
      }
    }
    table_.slices.push_back(slice);
  }

  const cache::SliceTable& finish() {
    table_.sets.assign(programs_.size(), cache::Bytes((table_.programs.size() + 1) / 2));
    for (std::size_t set = 0; set < programs_.size(); ++set) {
      for (const auto& [p, forms] : programs_[set]) {
        table_.sets[set][p / 2] |= static_cast<std::uint8_t>(forms << (4 * (p % 2)));
      }
    }
    return table_;
  }

 private:
  std::size_t number_of(const cache::ProgramKey& key) {
    const auto [at, is_new] = numbers_.try_emplace(key, table_.programs.size());
    if (is_new) table_.programs.push_back(key);
    return at->second;
  }

  cache::SliceTable table_;
  std::map<cache::ProgramKey, std::size_t> numbers_;
  std::vector<std::vector<std::pair<std::size_t, std::uint32_t>>> programs_;  // by set: numbers and forms
};

// Devices that have a later release refuse the older one. An index that cannot be read is replaced.
Status check_release(const std::string& index, std::uint64_t release) {
  const Result<Bundle> present = Bundle::open(index);
  const Result<cache::SliceTable> table = present ? present->slices() : present.status();
  if (!table || table->release <= release) return {};
  return {Code::invalid_argument, index + ": is of release " + std::to_string(table->release) + ", and " +
                                      std::to_string(release) + " is older; remove it to go back"};
}

// Writes the slice unless it is there, and whole.
void keep(const std::string& store, const cache::Slice& slice, cache::ByteView bytes, const std::atomic<bool>* cancel,
          SplitReport& report) {
  const bool written = need(write_to_store(store, cache::slice_name(slice.digest), bytes, cancel));
  ++report.slices;
  report.bytes += slice.bytes;
  report.written += written ? 1 : 0;
  report.written_bytes += written ? slice.bytes : 0;
}

}  // namespace

Result<SplitReport> split(const cache::Contents& contents, const std::string& store, const SplitOptions& options) try {
  std::error_code error;
  fs::create_directories(os::native(store), error);
  if (error) return {Code::io, store + ": cannot be made: " + error.message()};
  const auto no_newer = [&] { return check_release(store + "/" + options.index, options.release); };
  need(no_newer());
  remove_leftovers(store, options.pack.cancel);
  SplitReport report;
  Table table(options.release);
  std::map<std::uint32_t, std::uint64_t> bytes_of;  // by target
  cache::PackOptions pack = options.pack;
  pack.digest = nullptr;
  const Slicer slicer(contents);
  for (const auto& [key, cut] : slicer.cuts()) {
    // No device reads trials: they lie with the sources of every program.
    const cache::Contents part = cut_out(contents, key.first, cut, key.first == cache::kNoTarget);
    const cache::Bytes bytes = need(cache::pack(part, pack));
    cache::Slice slice = describe(part, key.first);
    slice.digest = cache::blake2b_256({bytes.data(), bytes.size()});
    slice.bytes = bytes.size();
    keep(store, slice, {bytes.data(), bytes.size()}, pack.cancel, report);
    table.add(slice, part);
    if (key.first != cache::kNoTarget) bytes_of[key.first] += slice.bytes;
  }
  for (const auto& [target, bytes] : bytes_of) report.largest_target = std::max(report.largest_target, bytes);
  cache::Bytes index = need(cache::pack_index(contents.targets, table.finish()));
  if (!options.key_file.empty()) {
    index = need(sign({index.data(), index.size()}, options.key_file, options.release, report.public_key));
  }
  report.index_bytes = index.size();
  need(write_to_store(store, options.index, {index.data(), index.size()}, pack.cancel, no_newer));
  return report;
} catch (const Failure& failure) {
  return failure.status;
}

cache::Contents part_of_target(const cache::Contents& contents, std::uint32_t target) {
  Cut cut;
  for (std::uint32_t e = 0; e < contents.entries.size(); ++e) {
    if (contents.entries[e].target != target) continue;
    cut.entries.push_back(e);
    cut.variants.insert(contents.entries[e].variant);
  }
  for (cache::Profile profile : contents.profiles) {
    if (profile.target != target) continue;
    profile::for_each_variant(profile, [&](std::uint32_t& variant) { cut.variants.insert(variant); });
  }
  return cut_out(contents, target, cut, true);
}

bool is_index_file(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  return bundle && bundle->is_index();
}

Result<std::vector<StoredSlice>> read_slices(const std::string& index, std::vector<std::string>* left_out) {
  const Result<Bundle> opened = Bundle::open(index);
  if (!opened) return opened.status();
  const Result<cache::SliceTable> table = opened->slices();
  if (!table) return table.status().within(index);
  const fs::path store = os::native(index).parent_path();
  std::vector<StoredSlice> slices;
  for (const cache::Slice& slice : table->slices) {
    const std::string path = os::utf8(store / cache::slice_name(slice.digest));
    Result<Bundle> bundle = Bundle::open(path);
    Status status = bundle.status();  // the message has the path
    if (status) {
      bundle = bundle->of_digest(slice.digest);
      status = bundle.status().within(path);
    }
    if (status) {
      slices.push_back({path, std::move(*bundle)});
    } else if (left_out) {
      left_out->push_back(status.message());
    } else {
      return status;
    }
  }
  return slices;
}

}  // namespace clbake::builder::release
