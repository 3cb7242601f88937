#include "report/release/release_side.hpp"

#include <algorithm>
#include <map>

namespace clbake::tool {

using builder::Served;

namespace {

struct Known {
  OwnProgram program;
  cache::Variant variant;
  cache::Source source;
};

Status add_programs(const Bundle& bundle, std::size_t index, std::map<std::string, Known>& known) {
  for (std::uint32_t v = 0; v < bundle.variant_count(); ++v) {
    const Result<cache::Variant> variant = bundle.variant(v);
    if (!variant) return variant.status();
    if (!variant->is_program()) continue;
    const Result<cache::Source> source = bundle.source(variant->source);
    if (!source) return source.status();
    Known& first = known.try_emplace(variant->name, Known{{variant->name, {}}, *variant, *source}).first->second;
    if (cache::same_but_source(first.variant, *variant) && first.source == *source) {
      first.program.places.emplace_back(index, v);
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

Result<std::vector<OwnProgram>> own_programs(const std::vector<ReleaseBundle>& bundles) {
  std::map<std::string, Known> known;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Status added = add_programs(bundles[i].bundle, i, known);
    if (!added) return added.within(bundles[i].file);
  }
  std::vector<OwnProgram> programs;
  for (auto& [name, program] : known) programs.push_back(std::move(program.program));
  return programs;
}

Result<Side> Side::create(const std::vector<ReleaseBundle>& bundles, const Target& target, bool newer_driver) {
  Side side;
  for (const ReleaseBundle& bundle : bundles) {
    Result<builder::Serving> serving =
        builder::Serving::create(bundle.bundle, builder::served_device(target), newer_driver);
    if (!serving) return serving.status().within(bundle.file);
    side.servings_.push_back(std::move(*serving));
  }
  return side;
}

Result<Served> Side::find(const builder::Shape& shape) {
  Served best;
  best.failure = {Code::no_variant, "no bundle"};
  for (builder::Serving& serving : servings_) {
    Result<Served> served = serving.find(shape);
    if (!served) return served;
    if (source_of(*served) < source_of(best) || &serving == &servings_.front()) best = std::move(*served);
  }
  return best;
}

Result<Served> Side::find(const OwnProgram& program) {
  Served best;
  for (const auto& [bundle, variant] : program.places) {
    const Result<const builder::ServedProgram*> found = servings_[bundle].program(variant);
    if (!found) return found.status();
    Served served;
    served.program = *found;
    if (source_of(served) < source_of(best)) best = std::move(served);
  }
  return best;
}

}  // namespace clbake::tool
