#include "report/release/release_programs.hpp"

#include <clbake/builder/release/check.hpp>

#include <map>

namespace clbake::tool {
namespace {

using Json = nlohmann::ordered_json;
using builder::Served;

std::string lack_text(const Served& served) {
  if (!served.program) return "not in this release";
  const builder::Requirements all{true, true, true, true, false};
  return builder::why(served, builder::lack_of(served, all));
}

Result<Served> find(Side& side, const std::optional<OwnProgram>& program) {
  return program ? side.find(*program) : Served();
}

}  // namespace

Result<ReleasePrograms> ReleasePrograms::create(const Release& release) {
  Result<std::vector<OwnProgram>> now = own_programs(release.bundles);
  if (!now) return now.status();
  Result<std::vector<OwnProgram>> before = own_programs(release.against);
  if (!before) return before.status();
  std::map<std::string, Pair> all;
  for (OwnProgram& program : *now) all[program.name].now = std::move(program);
  for (OwnProgram& program : *before) all[program.name].before = std::move(program);
  ReleasePrograms programs;
  for (auto& [name, pair] : all) {
    pair.name = name;
    programs.programs_.push_back(std::move(pair));
  }
  return programs;
}

std::vector<std::string> ReleasePrograms::names() const {
  std::vector<std::string> names;
  for (const Pair& pair : programs_) names.push_back(pair.name);
  return names;
}

Result<std::vector<ReleasePrograms::Row>> ReleasePrograms::rows(Side& now, std::optional<Side>& last, bool counts) {
  std::vector<Row> rows;
  for (const Pair& pair : programs_) {
    const Result<Served> served = find(now, pair.now);
    if (!served) return served.status();
    const bool proven = served->program && served->program->proven;
    const bool jit_free = proven && served->program->jit_free;
    Row row{pair.name, source_of(*served), {}, lack_text(*served), {}};
    if (last) {
      const Result<Served> before = find(*last, pair.before);
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
  std::size_t all = 0;
  for (const std::size_t count : by_source_) all += count;
  Json json{{"programs", all}};
  for (std::size_t i = 0; i < kSources; ++i) json[kSourceNames[i]] = by_source_[i];
  json.update({{"proven", proven_}, {"jit_free", jit_free_}});
  return json;
}

}  // namespace clbake::tool
