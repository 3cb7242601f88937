#include "report/release/release_programs.hpp"

#include <clbake/builder/release/check.hpp>

#include <numeric>
#include <set>

namespace clbake::tool {
namespace {

using Json = nlohmann::ordered_json;
using builder::release::Served;

std::string lack_text(const Served& served) {
  if (!served.program && served.failure.code() == Code::no_program) return "not in this release";
  const builder::release::Requirements all{true, true, true, true, false};
  return builder::release::why(served, builder::release::lack_of(served, all));
}

Status add_names(const std::vector<ReleaseBundle>& bundles, std::set<std::string>& names) {
  for (const ReleaseBundle& named : bundles) {
    for (std::uint32_t v = 0; v < named.bundle.variant_count(); ++v) {
      const Result<cache::Variant> variant = named.bundle.variant(v);
      if (!variant) return variant.status().within(named.file);
      if (variant->is_program()) names.insert(variant->name);
    }
  }
  return {};
}

}  // namespace

Source source_of(const Served& served) {
  if (!served.program) return Source::none;
  if (served.program->origin == Origin::native) return Source::native;
  return served.program->origin == Origin::portable ? Source::portable : Source::source;
}

Result<ReleasePrograms> ReleasePrograms::create(const Release& release) {
  std::set<std::string> names;
  Status added = add_names(release.bundles, names);
  if (added) added = add_names(release.against, names);
  if (!added) return added;
  ReleasePrograms programs;
  programs.names_.assign(names.begin(), names.end());
  return programs;
}

Result<std::vector<ReleasePrograms::Row>> ReleasePrograms::rows(builder::release::Serving& now,
                                                                std::optional<builder::release::Serving>& last,
                                                                bool counts) {
  std::vector<Row> rows;
  for (const std::string& program : names_) {
    const Result<Served> served = now.find_program(program);
    if (!served) return served.status();
    const bool proven = served->program && served->program->proven;
    const bool jit_free = proven && served->program->jit_free;
    Row row{program, source_of(*served), {}, lack_text(*served), {}};
    if (last) {
      const Result<Served> before = last->find_program(program);
      if (!before) return before.status();
      row.before = source_of(*before);
    }
    const bool baked = served->program && served->program->entry;
    row.json = {{"origin", name(row.now)},
                {"proven", proven},
                {"jit_free", jit_free},
                {"bytes", baked ? Json(served->program->entry->program.raw_bytes) : Json()},
                {"why", row.why.empty() ? Json() : Json(row.why)},
                {"before", row.before ? Json(name(*row.before)) : Json()}};
    if (counts) {
      ++by_source_[static_cast<std::size_t>(row.now)];
      proven_ += proven ? 1 : 0;
      jit_free_ += jit_free ? 1 : 0;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json ReleasePrograms::total() const {
  Json json{{"programs", std::accumulate(std::begin(by_source_), std::end(by_source_), std::size_t{0})}};
  for (std::size_t i = 0; i < kSources; ++i) json[kSourceNames[i]] = by_source_[i];
  json.update({{"proven", proven_}, {"jit_free", jit_free_}});
  return json;
}

}  // namespace clbake::tool
