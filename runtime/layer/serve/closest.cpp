#include "serve/closest.hpp"

#include <clbake/joined.hpp>

#include "program/source_digest.hpp"
#include "serve/catalogue.hpp"

#include <algorithm>
#include <map>

namespace clbake::layer::serve {
namespace {

struct Known {
  std::string file;
  std::string options;
};

using BySource = std::multimap<ContentDigest, Known>;

void add_programs(BySource& all, const ServingBundle& serving) {
  const Bundle& bundle = serving.bundle;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant || variant->content == cache::no_content) continue;
    const Result<cache::Source> source = bundle.source(variant->source);
    const Result<ProgramText> text = source ? decode_program_text(source->text) : source.status();
    if (text) all.emplace(source_digest(*text), Known{serving.file, variant->build_options});
  }
}

const BySource& known_programs() {
  static const auto& all = *new BySource([] {
    BySource programs;
    for (const ServingBundle& serving : serving_bundles()) add_programs(programs, serving);
    return programs;
  }());
  return all;
}

std::ptrdiff_t common_beginning(const std::string& a, const std::string& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

std::string closest_to(const ProgramText& text) {
  const auto [first, last] = known_programs().equal_range(source_digest(text));
  if (first == last) return {};
  const Result<ProgramText> whole = self_contained(text);
  const std::string& options = whole ? whole->options : text.options;  // as in bundles
  const auto same = std::find_if(first, last, [&](const auto& known) { return known.second.options == options; });
  if (same != last) {
    return joined({"; ", same->second.file, " has this source with these options, but ",
                   text.parts.empty() ? "another included file or end" : "parts with other options or included files"});
  }
  const Known& closest =
      std::max_element(first, last, [&](const auto& a, const auto& b) {
        return common_beginning(a.second.options, options) < common_beginning(b.second.options, options);
      })->second;
  return joined({"; ", closest.file, " has this source with options '", closest.options, "'"});
}

}  // namespace clbake::layer::serve
