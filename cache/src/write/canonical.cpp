#include "write/canonical.hpp"

#include <clbake/cache/xxh64.hpp>

#include "bodies.hpp"
#include "coding.hpp"
#include "format.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace clbake::cache {
namespace {

Status invalid(std::string_view what, std::size_t i, std::string_view cause) {
  return {Code::invalid_argument, std::string(what) + " " + std::to_string(i) + ": " + std::string(cause)};
}

// How a list is sorted and freed of duplicates.
struct Ranking {
  std::vector<std::uint32_t> order;  // new index -> old index, of the first among equals
  std::vector<std::uint32_t> rank;   // old index -> new index
};

// One type for all lists, so that one instance of std::sort serves them.
struct SortKey {
  std::uint64_t hash = 0;
  std::string_view name;
  std::string_view body;

  bool operator<(const SortKey& other) const {
    return std::tie(hash, name, body) < std::tie(other.hash, other.name, other.body);
  }
};

std::string_view text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Ranking rank_by(const std::vector<SortKey>& keys) {
  std::vector<std::uint32_t> sorted(keys.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) {
    return keys[a] < keys[b] || (!(keys[b] < keys[a]) && a < b);  // equal keys in the order of the list
  });
  Ranking ranking;
  ranking.rank.resize(keys.size());
  for (const std::uint32_t old : sorted) {
    if (ranking.order.empty() || keys[ranking.order.back()] < keys[old]) ranking.order.push_back(old);
    ranking.rank[old] = static_cast<std::uint32_t>(ranking.order.size() - 1);
  }
  return ranking;
}

Status check_counts(const Contents& contents) {
  const std::size_t counts[] = {contents.targets.size(), contents.sources.size(), contents.variants.size(),
                                contents.profiles.size(), contents.entries.size()};
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    if (counts[i] <= format::kSections[i].max_count) continue;
    return {Code::invalid_argument,
            "too many records of " + std::string(format::kSections[i].name) + ": " + std::to_string(counts[i])};
  }
  return {};
}

// Why this entry cannot be written, or nothing.
std::string_view entry_problem(const Entry& entry, const Contents& contents) {
  if (entry.target >= contents.targets.size()) return "names a target that does not exist";
  if (entry.variant >= contents.variants.size()) return "names a variant that does not exist";
  if (entry.form != Form::native && entry.form != Form::portable) return "unknown form";
  if (entry.program.empty()) return "the program is empty";
  if (entry.program.size() > format::kMaxProgramBytes) return "the program is too large";
  return {};
}

template <typename T, typename Check>
Status check_each(const char* what, const std::vector<T>& list, Check check) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (const Status valid = check(list[i]); !valid) return invalid(what, i, valid.message());
  }
  return {};
}

class Canonicalizer {
 public:
  explicit Canonicalizer(const Contents& contents) : contents_(contents) {}

  Result<CanonicalContents> run() {
    for (const auto step : {&Canonicalizer::targets, &Canonicalizer::sources, &Canonicalizer::variants,
                            &Canonicalizer::profiles, &Canonicalizer::entries}) {
      if (Status status = (this->*step)(); !status) return status;
    }
    return std::move(result_);
  }

 private:
  // Encodes a list, sorted by `key` and without duplicates.
  template <typename T, typename Encode, typename Key>
  Status add_list(const char* what, std::size_t max_bytes, const std::vector<T>& list, Encode encode, Key key,
                  std::vector<CanonicalContents::Body>& into, Ranking& ranking) {
    std::vector<Bytes> bodies;
    for (const T& item : list) {
      bodies.push_back(encode(item));
      if (bodies.back().size() > max_bytes) return invalid(what, bodies.size() - 1, "its texts are too long");
    }
    std::vector<SortKey> keys;
    for (std::size_t i = 0; i < list.size(); ++i) keys.push_back(key(list[i], bodies[i]));
    ranking = rank_by(keys);
    for (const std::uint32_t old : ranking.order) into.push_back({0, std::move(bodies[old])});
    return {};
  }

  Status targets() {
    const auto key = [](const Target&, const Bytes& body) {
      return SortKey{xxh64(body.data(), body.size(), 0), {}, text_of(body)};
    };
    return add_list("target", format::kMaxTargetBytes, contents_.targets, encode_target, key, result_.targets,
                    targets_);
  }

  Status sources() {
    const auto key = [](const Source& source, const Bytes&) { return SortKey{0, source.name, source.text}; };
    return add_list("source", format::kMaxSourceBytes, contents_.sources, encode_source, key, result_.sources,
                    sources_);
  }

  Status variants() {
    const std::vector<Variant>& all = contents_.variants;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Status valid = check_variant(all[i], contents_.sources.size());
      if (!valid) return invalid("variant", i, valid.message()).within(all[i].name);
    }
    const auto encode = [&](const Variant& variant) {
      const std::uint32_t trial = variant.trial == 0 ? 0 : 1 + sources_.rank[variant.trial - 1];
      return encode_variant(variant, sources_.rank[variant.source], trial);
    };
    const auto key = [](const Variant& variant, const Bytes& body) { return SortKey{0, variant.name, text_of(body)}; };
    Status status = add_list("variant", format::kMaxVariantBytes, all, encode, key, result_.variants, variants_);
    for (std::size_t i = 0; status && i < variants_.order.size(); ++i) {
      const std::uint32_t old = variants_.order[i];
      result_.variants[i].key0 = load32(all[old].content.data());
      result_.variants[i].key1 = load32(all[old].content.data() + 4);
      if (i == 0 || all[old].name != all[variants_.order[i - 1]].name) continue;
      status = invalid("variant", old, "another variant has the name " + all[old].name);
    }
    return status;
  }

  Status profiles() {
    for (std::size_t i = 0; i < contents_.profiles.size(); ++i) {
      const Profile& profile = contents_.profiles[i];
      if (profile.target >= contents_.targets.size())
        return invalid("profile", i, "names a target that does not exist");
      const auto valid_item = [&](const auto& item) { return check(item, contents_.variants.size()); };
      Status status = check_each("exception", profile.exceptions, valid_item);
      if (status) status = check_each("default", profile.defaults, valid_item);
      if (status) status = check_each("cost model", profile.models, valid_item);
      if (!status) return status.within("profile " + std::to_string(i));
      if (const Status valid = check_profile(profile); !valid) return invalid("profile", i, valid.message());
      result_.profiles.push_back({targets_.rank[profile.target], encode_profile(profile, variants_.rank)});
    }
    std::sort(result_.profiles.begin(), result_.profiles.end(),
              [](const auto& a, const auto& b) { return a.key0 < b.key0; });
    const auto twice = std::adjacent_find(result_.profiles.begin(), result_.profiles.end(),
                                          [](const auto& a, const auto& b) { return a.key0 == b.key0; });
    if (twice == result_.profiles.end()) return {};
    const auto old = std::find(targets_.rank.begin(), targets_.rank.end(), twice->key0) - targets_.rank.begin();
    return invalid("target", static_cast<std::size_t>(old), "has two profiles");
  }

  Status entries() {
    result_.entries.reserve(contents_.entries.size());
    for (std::size_t i = 0; i < contents_.entries.size(); ++i) {
      const Entry& entry = contents_.entries[i];
      const std::string_view problem = entry_problem(entry, contents_);
      if (!problem.empty()) return invalid("entry", i, problem);
      if (Status status = check_texts(entry.proof); !status)
        return invalid("entry", i, "the proof: " + status.message());
      Bytes texts = encode_texts(entry.proof);
      if (texts.size() > format::kMaxTextsBytes) return invalid("entry", i, "the proof's texts are too long");
      result_.entries.push_back({targets_.rank[entry.target], variants_.rank[entry.variant], &entry, std::move(texts)});
    }
    const auto key = [](const CanonicalContents::EntryRecord& e) {
      return std::make_tuple(e.target, e.variant, e.original->form);
    };
    std::sort(result_.entries.begin(), result_.entries.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    const auto twice = std::adjacent_find(result_.entries.begin(), result_.entries.end(),
                                          [&](const auto& a, const auto& b) { return key(a) == key(b); });
    if (twice == result_.entries.end()) return {};
    return invalid("entry", static_cast<std::size_t>(twice->original - contents_.entries.data()),
                   "another entry has the same target, variant and form");
  }

  const Contents& contents_;
  CanonicalContents result_;
  Ranking targets_, sources_, variants_;
};

}  // namespace

Result<CanonicalContents> canonicalize(const Contents& contents) {
  if (Status status = check_counts(contents); !status) return status;
  return Canonicalizer(contents).run();
}

}  // namespace clbake::cache
