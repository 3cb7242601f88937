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

// How a list is sorted and freed of repetitions.
struct Ranking {
  std::vector<std::uint32_t> order;  // new index -> old index, of the first among equals
  std::vector<std::uint32_t> rank;   // old index -> new index
};

// The ranking of a list with these sort keys.
template <typename Key>
Ranking rank_by(const std::vector<Key>& keys) {
  std::vector<std::uint32_t> sorted(keys.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  Ranking ranking;
  ranking.rank.resize(keys.size());
  for (const std::uint32_t old : sorted) {
    if (ranking.order.empty() || keys[ranking.order.back()] < keys[old]) ranking.order.push_back(old);
    ranking.rank[old] = static_cast<std::uint32_t>(ranking.order.size() - 1);
  }
  return ranking;
}

std::uint32_t flags_of(bool trans_a, bool trans_b) {
  return (trans_a ? format::kTransA : 0) | (trans_b ? format::kTransB : 0);
}

bool known(Precision precision) { return format::known_precision(static_cast<std::uint32_t>(precision)); }

Bytes encode_source(const Source& source) {
  FieldWriter fields;
  fields.string(source.name);
  fields.string(source.text);
  return fields.take();
}

Bytes encode_variant(const Variant& variant, std::uint32_t source) {
  FieldWriter fields;
  fields.u32(static_cast<std::uint32_t>(variant.precision));
  fields.u32(flags_of(variant.trans_a, variant.trans_b) | (variant.image_a ? format::kImageA : 0) |
             (variant.image_b ? format::kImageB : 0));
  fields.u32(variant.contract);
  fields.u32(source);
  for (const std::uint32_t factor : {variant.block_m, variant.block_n, variant.block_k, variant.split_k}) {
    fields.u32(factor);
  }
  fields.string(variant.name);
  fields.string(variant.family);
  fields.string(variant.build_options);
  fields.u32(static_cast<std::uint32_t>(variant.launches.size()));
  for (const Launch& launch : variant.launches) {
    fields.u32(static_cast<std::uint32_t>(launch.role));
    fields.string(launch.kernel_name);
    for (const std::uint32_t extent : launch.local) fields.u32(extent);
    fields.u32(launch.tile_m);
    fields.u32(launch.tile_n);
  }
  return fields.take();
}

Bytes encode_rules(const std::vector<Rule>& rules, const std::vector<std::uint32_t>& variant_rank) {
  FieldWriter fields;
  fields.u32(static_cast<std::uint32_t>(rules.size()));
  for (const Rule& rule : rules) {
    fields.u32(static_cast<std::uint32_t>(rule.precision));
    fields.u32(flags_of(rule.trans_a, rule.trans_b));
    for (const std::uint32_t bound :
         {rule.m_min, rule.m_max, rule.n_min, rule.n_max, rule.k_min, rule.k_max, rule.batch_min, rule.batch_max}) {
      fields.u32(bound);
    }
    fields.u32(variant_rank[rule.variant]);
    fields.f32(rule.gflops);
  }
  return fields.take();
}

Status check_counts(const Contents& contents) {
  const std::pair<const char*, std::pair<std::size_t, std::uint64_t>> limits[] = {
      {"targets", {contents.targets.size(), format::kMaxTargets}},
      {"sources", {contents.sources.size(), format::kMaxSources}},
      {"variants", {contents.variants.size(), format::kMaxVariants}},
      {"profiles", {contents.profiles.size(), format::kMaxProfiles}},
      {"entries", {contents.entries.size(), format::kMaxEntries}},
  };
  for (const auto& [what, limit] : limits) {
    if (limit.first <= limit.second) continue;
    return {Code::invalid_argument, "too many " + std::string(what) + ": " + std::to_string(limit.first)};
  }
  return {};
}

// Why this variant cannot be written, or nothing.
std::string_view variant_problem(const Variant& variant, std::size_t source_count) {
  if (variant.source >= source_count) return "names a source that does not exist";
  if (!known(variant.precision)) return "unknown precision";
  if (variant.block_m == 0 || variant.block_n == 0 || variant.block_k == 0 || variant.split_k == 0) {
    return "a blocking factor of 0";
  }
  if (variant.launches.empty()) return "has no launch";
  if (variant.launches.size() > format::kMaxLaunches) return "has too many launches";
  for (const Launch& launch : variant.launches) {
    const bool empty = std::count(launch.local, launch.local + 3, 0U) > 0 || launch.tile_m == 0 || launch.tile_n == 0;
    if (empty) return "a launch with an extent of 0";
    if (!format::known_role(static_cast<std::uint32_t>(launch.role))) return "unknown role";
  }
  return {};
}

std::string_view rule_problem(const Rule& rule, std::size_t variant_count) {
  if (rule.variant >= variant_count) return "names a variant that does not exist";
  if (!known(rule.precision)) return "unknown precision";
  if (rule.m_min > rule.m_max || rule.n_min > rule.n_max || rule.k_min > rule.k_max ||
      rule.batch_min > rule.batch_max) {
    return "an empty range";
  }
  return {};
}

std::string_view entry_problem(const Entry& entry, const Contents& contents) {
  if (entry.target >= contents.targets.size()) return "names a target that does not exist";
  if (entry.variant >= contents.variants.size()) return "names a variant that does not exist";
  if (entry.form != Form::native && entry.form != Form::portable) return "unknown form";
  if (entry.program.empty()) return "the program is empty";
  if (entry.program.size() > format::kMaxProgramBytes) return "the program is too large";
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
  std::vector<std::pair<std::uint64_t, Bytes>> keys;
  for (const Target& target : contents_.targets) {
    Bytes body = encode_target(target);
    if (body.size() > format::kMaxTargetBytes) return invalid("target", keys.size(), "its texts are too long");
    const std::uint64_t hash = xxh64(body.data(), body.size(), 0);
    keys.emplace_back(hash, std::move(body));
  }
  Ranking ranking = rank_by(keys);
  for (const std::uint32_t old : ranking.order) result_.targets.push_back(std::move(keys[old].second));
  target_rank_ = std::move(ranking.rank);
  return {};
}

Status Canonicalizer::sources() {
  std::vector<std::tuple<const std::string&, const std::string&>> keys;
  for (const Source& source : contents_.sources) {
    if (source.name.size() + source.text.size() + 8 > format::kMaxSourceBytes) {
      return invalid("source", keys.size(), "too large");
    }
    keys.emplace_back(source.name, source.text);
  }
  Ranking ranking = rank_by(keys);
  for (const std::uint32_t old : ranking.order) result_.sources.push_back(encode_source(contents_.sources[old]));
  source_rank_ = std::move(ranking.rank);
  return {};
}

Status Canonicalizer::variants() {
  std::vector<std::pair<const std::string*, Bytes>> bodies;
  std::vector<std::tuple<const std::string&, const Bytes&>> keys;
  bodies.reserve(contents_.variants.size());
  for (const Variant& variant : contents_.variants) {
    const std::string_view problem = variant_problem(variant, contents_.sources.size());
    if (!problem.empty()) return invalid("variant", bodies.size(), problem).within(variant.name);
    bodies.emplace_back(&variant.name, encode_variant(variant, source_rank_[variant.source]));
    if (bodies.back().second.size() > format::kMaxVariantBytes) {
      return invalid("variant", bodies.size() - 1, "its texts are too long");
    }
    keys.emplace_back(variant.name, bodies.back().second);
  }
  Ranking ranking = rank_by(keys);
  const std::string* last = nullptr;
  for (const std::uint32_t old : ranking.order) {
    if (last != nullptr && *last == *bodies[old].first) {
      return invalid("variant", old, "another variant has the name " + *last);
    }
    last = bodies[old].first;
    result_.variants.push_back(std::move(bodies[old].second));
  }
  variant_rank_ = std::move(ranking.rank);
  return {};
}

Status Canonicalizer::profiles() {
  for (std::size_t i = 0; i < contents_.profiles.size(); ++i) {
    const Profile& profile = contents_.profiles[i];
    if (profile.target >= contents_.targets.size()) return invalid("profile", i, "names a target that does not exist");
    if (profile.rules.size() > format::kMaxRules) return invalid("profile", i, "too many rules");
    for (std::size_t r = 0; r < profile.rules.size(); ++r) {
      const std::string_view problem = rule_problem(profile.rules[r], contents_.variants.size());
      if (!problem.empty()) return invalid("rule", r, problem).within("profile " + std::to_string(i));
    }
    result_.profiles.push_back({target_rank_[profile.target], encode_rules(profile.rules, variant_rank_)});
  }
  std::sort(result_.profiles.begin(), result_.profiles.end(),
            [](const auto& a, const auto& b) { return a.target < b.target; });
  const auto twice = std::adjacent_find(result_.profiles.begin(), result_.profiles.end(),
                                        [](const auto& a, const auto& b) { return a.target == b.target; });
  if (twice == result_.profiles.end()) return {};
  const auto old = std::find(target_rank_.begin(), target_rank_.end(), twice->target) - target_rank_.begin();
  return invalid("target", static_cast<std::size_t>(old), "has two profiles");
}

Status Canonicalizer::entries() {
  result_.entries.reserve(contents_.entries.size());
  for (std::size_t i = 0; i < contents_.entries.size(); ++i) {
    const Entry& entry = contents_.entries[i];
    const std::string_view problem = entry_problem(entry, contents_);
    if (!problem.empty()) return invalid("entry", i, problem);
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
