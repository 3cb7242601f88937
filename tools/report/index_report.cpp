#include "report/index_report.hpp"

#include "cli/cli.hpp"
#include "report/bundle_report.hpp"

#include <clbake/builder/release/served.hpp>
#include <clbake/cache/slices.hpp>

namespace clbake::tool {
namespace {

// ["single", "own programs"]
Json kinds_json(std::uint32_t kinds) {
  Json names = Json::array();
  for (const Precision precision : all_precisions) {
    if ((kinds >> index_of({precision, false, false}) & 0xFU) != 0) names.push_back(name(precision));
  }
  if ((kinds & cache::kComplexSingle) != 0) names.push_back("complex-single");
  if ((kinds & cache::kComplexDouble) != 0) names.push_back("complex-double");
  if ((kinds & cache::kMixed) != 0) names.push_back("mixed");
  if ((kinds & cache::kOwnPrograms) != 0) names.push_back("own programs");
  return names;
}

// As far as one of the slice's programs has them.
Json forms_json(const cache::SliceTable& table, const cache::Slice& slice) {
  std::uint32_t forms = 0;
  for (std::uint32_t kind = 1; kind < cache::kOwnPrograms; kind <<= 1U) forms |= table.forms_of_kind(slice, kind);
  const std::size_t programs = (slice.kinds & cache::kOwnPrograms) != 0 ? table.programs.size() : 0;
  for (std::size_t p = 0; p < programs; ++p) forms |= table.forms(slice, p);
  Json names = Json::array();
  if ((forms & cache::kNativeForm) != 0) names.push_back("native");
  if ((forms & cache::kPortableForm) != 0) names.push_back("portable");
  if ((forms & cache::kBakedForms) == 0) names.push_back("source");
  return names;
}

}  // namespace

Json index_report(const Bundle& index, const std::string& file) {
  const cache::SliceTable table = need(index.slices(), file);
  Json slices = Json::array();
  std::uint64_t bytes = 0;
  for (const cache::Slice& slice : table.slices) {
    const bool any = slice.target == cache::kNoTarget;
    bytes += slice.bytes;
    slices.push_back({{"file", cache::slice_name(slice.digest)},
                      {"target", any ? Json() : Json(slice.target)},
                      {"device", any ? "any" : builder::release::target_name(need(index.target(slice.target), file))},
                      {"kinds", kinds_json(slice.kinds)},
                      {"forms", forms_json(table, slice)},
                      {"bytes", slice.bytes}});
  }
  return {{"release", table.release},
          {"file_bytes", index.size_bytes()},
          {"digest", digest_json(index)},
          {"signatures", signatures_json(index)},
          {"programs", table.programs.size()},
          {"bytes", bytes},
          {"slices", slices}};
}

}  // namespace clbake::tool
