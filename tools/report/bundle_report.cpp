#include "report/bundle_report.hpp"

#include "cli/arguments.hpp"
#include "cli/cli.hpp"
#include "cli/json.hpp"

#include <clbake/builder/programs.hpp>
#include <clbake/builder/release/served.hpp>
#include <clbake/builder/release/signing.hpp>
#include <clbake/cache/slices.hpp>
#include <clbake/platform.hpp>
#include <clbake/program_text.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace clbake::tool {
namespace {

// The parts of a note without figures, which differ from entry to entry; the whole note when all parts have some.
std::string reason_of(const std::string& note) {
  std::string reason;
  std::size_t begin = 0;
  while (begin < note.size()) {
    const std::size_t end = std::min(note.find("; ", begin), note.size());
    const std::string part = note.substr(begin, end - begin);
    const bool has_figure = part.find_first_of("0123456789") != std::string::npos;
    if (!has_figure) reason += (reason.empty() ? "" : "; ") + part;
    begin = end + 2;
  }
  return reason.empty() ? note : reason;
}

// The counts of one target.
struct TargetCounts {
  std::string name;
  std::size_t native = 0, portable = 0, proven = 0;
  std::size_t jit_free = 0;  // of those proven
  std::uint64_t bytes = 0;
  std::map<std::string, std::string> kinds;  // "single" -> "single nn nt"
  std::set<std::string> programs;            // the application's own
  std::map<std::string, std::size_t> notes;  // why native entries are proven, but not JIT-free

  void add(const cache::EntryInfo& entry, const cache::Variant& variant) {
    const bool is_native = entry.form == cache::Form::native;
    ++(is_native ? native : portable);
    bytes += entry.program.raw_bytes;
    if (variant.is_program()) {
      programs.insert(variant.name);
    } else {
      std::string& kind =
          kinds.try_emplace(clbake::name(variant.precision), clbake::name(variant.precision)).first->second;
      const std::string trans = " " + trans_name(variant);
      if (kind.find(trans) == std::string::npos) kind += trans;
    }
    if (!entry.proof.proven) return;
    ++proven;
    jit_free += entry.proof.jit_free ? 1 : 0;
    if (!is_native || entry.proof.jit_free) return;  // a portable program is compiled at every load
    ++notes[variant.is_program() ? builder::program::shown_name(variant.name) + ": " + entry.proof.note
                                 : reason_of(entry.proof.note)];
  }

  Json json(std::size_t target) const {
    Json kinds_json = Json::array(), notes_json = Json::array();
    for (const auto& [precision, kind] : kinds) kinds_json.push_back(kind);
    if (!programs.empty()) kinds_json.push_back(counted(programs.size(), "own program"));
    for (const auto& [note, count] : notes) notes_json.push_back({{"entries", count}, {"note", note}});
    return {{"target", target},     {"name", name},         {"kinds", kinds_json},
            {"native", native},     {"portable", portable}, {"proven", proven},
            {"jit_free", jit_free}, {"bytes", bytes},       {"not_jit_free", notes_json}};
  }
};

// [{"name": "rows", "work_group_size": [64, 1, 1]}, ...]
Json kernels_json(const cache::Variant& program) {
  Json kernels = Json::array();
  for (const cache::Launch& launch : program.launches) {
    kernels.push_back({{"name", launch.kernel_name}, {"work_group_size", launch.local}});
  }
  return kernels;
}

Json entry_json(const cache::EntryInfo& entry, const cache::Variant& variant, const std::vector<std::string>& untried) {
  char checksum[32];
  std::snprintf(checksum, sizeof checksum, "%016llx", static_cast<unsigned long long>(entry.program.raw_checksum));
  Json json{{"target", entry.target},
            {"variant", variant.name},
            {"family", variant.family},
            {"precision", variant.is_program() ? "none" : clbake::name(variant.precision)},
            {"trans", variant.is_program() ? "" : trans_name(variant)},
            {"form", entry.form == cache::Form::native ? "native" : "portable"},
            {"newer_driver", entry.newer_driver},
            {"bytes", entry.program.raw_bytes},
            {"stored_bytes", entry.program.stored_bytes},
            {"checksum", checksum}};
  json.update(to_json(entry.proof));
  if (variant.is_program()) {
    json["kernels"] = kernels_json(variant);
    json["untried"] = untried;
    const std::string unlisted = builder::program::part_of(entry.proof.note, builder::program::kUnlisted);
    json["unlisted"] = unlisted.empty() ? Json() : Json(unlisted);
  }
  if (*assembler_feature(variant) != 0) json["assembler"] = assembler_feature(variant);
  if (variant.content != cache::no_content) json["content"] = content_name(variant.content);
  return json;
}

// Null when nothing is limited; the upper end is null when only that is not.
Json range_json(std::uint32_t min, std::uint32_t max) {
  if (min == 0 && max == UINT32_MAX) return {};
  return {min, max == UINT32_MAX ? Json() : Json(max)};
}

void add_fields(const cache::Rule& rule, Json& json) {
  json["m"] = range_json(rule.m_min, rule.m_max);
  json["n"] = range_json(rule.n_min, rule.n_max);
  json["k"] = range_json(rule.k_min, rule.k_max);
  json["batch"] = range_json(rule.batch_min, rule.batch_max);
}

void add_fields(const cache::CostModel& model, Json& json) {
  for (const auto& [name, field] : cache::kCostModelExtents) json[name] = model.*field;
  for (const auto& [name, field] : cache::kCostModelNumbers) json[name] = model.*field;
}

template <typename T>
Json list_json(const Bundle& bundle, const std::string& file, const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) {
    Json& json = list.emplace_back();
    json = {{"precision", clbake::name(item.precision)},
            {"trans", trans_name(item)},
            {"variant", need(bundle.variant(item.variant), file).name}};
    add_fields(item, json);
  }
  return list;
}

Json profiles_json(const Bundle& bundle, const std::string& file) {
  Json profiles = Json::array();
  for (std::uint32_t i = 0; i < bundle.profile_count(); ++i) {
    const cache::Profile profile = need(bundle.profile(i), file);
    profiles.push_back({{"target", profile.target},
                        {"units", profile.units},
                        {"exceptions", list_json(bundle, file, profile.exceptions)},
                        {"models", list_json(bundle, file, profile.models)},
                        {"defaults", list_json(bundle, file, profile.defaults)}});
  }
  return profiles;
}

// The bytes by which proofs try own programs: arguments with their contents.
std::size_t trial_bytes(const Bundle& bundle, const std::string& file) {
  std::set<std::uint32_t> sources;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) sources.insert(need(bundle.variant(i), file).trial);
  sources.erase(0);
  std::size_t bytes = 0;
  for (const std::uint32_t source : sources) bytes += need(bundle.source(source - 1), file).text.size();
  return bytes;
}

// The signatures with their validity; null where it cannot be told: without digests or libsodium.
Json signatures_json(const Bundle& bundle) {
  const Result<std::vector<builder::release::SignatureReport>> signatures = builder::release::signatures_of(bundle);
  if (!signatures) return {};
  Json all = Json::array();
  for (const builder::release::SignatureReport& s : *signatures) {
    all.push_back({{"public_key", s.public_key}, {"release", s.release}, {"valid", s.valid}});
  }
  return all;
}

Json digest_json(const Bundle& bundle) {
  const Result<std::string> identity = builder::release::identity_text(bundle);
  return identity ? Json(*identity) : Json();
}

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

Json bundle_report(const Bundle& bundle, const std::string& file) {
  Json targets = Json::array(), summary = Json::array(), entries = Json::array();
  std::vector<TargetCounts> counts(bundle.target_count());
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Target target = need(bundle.target(i), file);
    targets.push_back(to_json(target));
    counts[i].name = builder::release::target_name(target);
  }
  std::uint64_t bytes = 0, stored = 0;
  std::set<std::uint64_t> seen;                               // equal programs are stored, and count, once
  std::map<std::uint32_t, std::vector<std::string>> untried;  // by variant
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const cache::EntryInfo entry = need(bundle.entry(i), file);
    const cache::Variant variant = need(bundle.variant(entry.variant), file);
    counts[entry.target].add(entry, variant);
    const auto [kernels, is_new] = untried.try_emplace(entry.variant);
    if (is_new) kernels->second = need(builder::release::untried_kernels(bundle, variant), file);
    entries.push_back(entry_json(entry, variant, kernels->second));
    bytes += entry.program.raw_bytes;
    if (seen.insert(entry.program.offset).second) stored += entry.program.stored_bytes;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) summary.push_back(counts[i].json(i));
  const Version version = bundle.version();
  return {{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
          {"file_bytes", bundle.size_bytes()},
          {"digest", digest_json(bundle)},
          {"signatures", signatures_json(bundle)},
          {"bytes", bytes},
          {"stored_bytes", stored},
          {"ratio", stored > 0 ? static_cast<double>(bytes) / static_cast<double>(stored) : 1.0},
          {"variants", bundle.variant_count()},
          {"trial_bytes", trial_bytes(bundle, file)},
          {"targets", std::move(targets)},
          {"summary", std::move(summary)},
          {"profiles", profiles_json(bundle, file)},
          {"entries", std::move(entries)}};
}

std::string profile_text(const Json& profile) {
  return counted(profile["models"].size(), "cost model") + ", " + counted(profile["exceptions"].size(), "exception") +
         ", " + counted(profile["defaults"].size(), "default");
}

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
