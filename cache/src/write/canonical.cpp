#include "write/canonical.hpp"

#include <clbake/cache/xxh64.hpp>

#include "bodies.hpp"
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
  Status targets();
  Status sources();
  Status variants();
  Status profiles();
  Status entries();

  const Contents& contents_;
  CanonicalContents result_;
  std::vector<std::uint32_t> target_rank_, source_rank_, variant_rank_;
};

Status Canonicalizer::targets() {
  std::vector<Bytes> bodies;
  for (const Target& target : contents_.targets) {
    bodies.push_back(encode_target(target));
    if (bodies.back().size() > format::kMaxTargetBytes) {
      return invalid("target", bodies.size() - 1, "its texts are too long");
    }
  }
  std::vector<SortKey> keys;
  for (const Bytes& body : bodies) keys.push_back({xxh64(body.data(), body.size(), 0), {}, text_of(body)});
  Ranking ranking = rank_by(keys);
  for (const std::uint32_t old : ranking.order) result_.targets.push_back({0, std::move(bodies[old])});
  target_rank_ = std::move(ranking.rank);
  return {};
}

Status Canonicalizer::sources() {
  std::vector<SortKey> keys;
  for (const Source& source : contents_.sources) {
    if (source.name.size() + source.text.size() + 8 > format::kMaxSourceBytes) {
      return invalid("source", keys.size(), "too large");
    }
    keys.push_back({0, source.name, source.text});
  }
  Ranking ranking = rank_by(keys);
  for (const std::uint32_t old : ranking.order) result_.sources.push_back({0, encode_source(contents_.sources[old])});
  source_rank_ = std::move(ranking.rank);
  return {};
}

Status Canonicalizer::variants() {
  std::vector<Bytes> bodies;
  for (const Variant& variant : contents_.variants) {
    const Status valid = check_variant(variant, contents_.sources.size());
    if (!valid) return invalid("variant", bodies.size(), valid.message()).within(variant.name);
    bodies.push_back(encode_variant(variant, source_rank_[variant.source]));
    if (bodies.back().size() > format::kMaxVariantBytes) {
      return invalid("variant", bodies.size() - 1, "its texts are too long");
    }
  }
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < bodies.size(); ++i) keys.push_back({0, contents_.variants[i].name, text_of(bodies[i])});
  Ranking ranking = rank_by(keys);
  for (std::size_t i = 1; i < ranking.order.size(); ++i) {
    const std::uint32_t old = ranking.order[i];
    if (keys[old].name != keys[ranking.order[i - 1]].name) continue;
    return invalid("variant", old, "another variant has the name " + contents_.variants[old].name);
  }
  for (const std::uint32_t old : ranking.order) result_.variants.push_back({0, std::move(bodies[old])});
  variant_rank_ = std::move(ranking.rank);
  return {};
}

Status Canonicalizer::profiles() {
  for (std::size_t i = 0; i < contents_.profiles.size(); ++i) {
    const Profile& profile = contents_.profiles[i];
    if (profile.target >= contents_.targets.size()) return invalid("profile", i, "names a target that does not exist");
    const std::size_t variants = contents_.variants.size();
    const auto rule = [&](const Rule& r) { return check_rule(r, variants); };
    const auto model = [&](const CostModel& m) { return check_model(m, variants); };
    Status status = check_each("exception", profile.exceptions, rule);
    if (status) status = check_each("default", profile.defaults, rule);
    if (status) status = check_each("cost model", profile.models, model);
    if (!status) return status.within("profile " + std::to_string(i));
    if (const Status valid = check_profile(profile); !valid) return invalid("profile", i, valid.message());
    result_.profiles.push_back({target_rank_[profile.target], encode_profile(profile, variant_rank_)});
  }
  std::sort(result_.profiles.begin(), result_.profiles.end(),
            [](const auto& a, const auto& b) { return a.key0 < b.key0; });
  const auto twice = std::adjacent_find(result_.profiles.begin(), result_.profiles.end(),
                                        [](const auto& a, const auto& b) { return a.key0 == b.key0; });
  if (twice == result_.profiles.end()) return {};
  const auto old = std::find(target_rank_.begin(), target_rank_.end(), twice->key0) - target_rank_.begin();
  return invalid("target", static_cast<std::size_t>(old), "has two profiles");
}

Status Canonicalizer::entries() {
  result_.entries.reserve(contents_.entries.size());
  for (std::size_t i = 0; i < contents_.entries.size(); ++i) {
    const Entry& entry = contents_.entries[i];
    const std::string_view problem = entry_problem(entry, contents_);
    if (!problem.empty()) return invalid("entry", i, problem);
    if (Status status = check_texts(entry.proof); !status) return invalid("entry", i, "the proof: " + status.message());
    Bytes texts = encode_texts(entry.proof);
    if (texts.size() > format::kMaxTextsBytes) return invalid("entry", i, "the proof's texts are too long");
    result_.entries.push_back({target_rank_[entry.target], variant_rank_[entry.variant], &entry, std::move(texts)});
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

}  // namespace

Result<CanonicalContents> canonicalize(const Contents& contents) {
  if (Status status = check_counts(contents); !status) return status;
  return Canonicalizer(contents).run();
}

}  // namespace clbake::cache
