#include "report/bundle_report.hpp"

#include <clbake/builder/release/signing.hpp>

#include "bench/alternate.hpp"

#include <set>

namespace clbake::tool {
namespace {

struct Totals {
  std::uint64_t program_bytes = 0;  // uncompressed
  std::uint64_t stored_bytes = 0;   // in the file; equal programs are stored, and count, once
};

// [{"name": "rows", "work_group_size": [64, 1, 1]}, ...]
Json kernels_json(const cache::Variant& program) {
  Json kernels = Json::array();
  for (const cache::Launch& launch : program.launches) {
    kernels.push_back({{"name", launch.kernel_name}, {"work_group_size", launch.local}});
  }
  return kernels;
}

Result<Json> entry_json(const Bundle& bundle, const cache::EntryInfo& entry) {
  const Result<cache::Variant> variant = bundle.variant(entry.variant);
  if (!variant) return variant.status();
  Json json{{"target", entry.target},
            {"variant", variant->name},
            {"family", variant->family},
            {"precision", variant->is_program() ? "none" : clbake::name(variant->precision)},
            {"trans", variant->is_program() ? "" : trans_name(*variant)},
            {"form", entry.form == cache::Form::native ? "native" : "portable"},
            {"newer_driver", entry.newer_driver},
            {"bytes", entry.program.raw_bytes},
            {"stored_bytes", entry.program.stored_bytes}};
  json.update(to_json(entry.proof));
  if (variant->is_program()) json["kernels"] = kernels_json(*variant);
  return json;
}

// Null when nothing is limited; the upper end is null when only that is not.
Json range_json(std::uint32_t min, std::uint32_t max) {
  if (min == 0 && max == UINT32_MAX) return {};
  return {min, max == UINT32_MAX ? Json() : Json(max)};
}

Result<std::string> variant_name(const Bundle& bundle, std::uint32_t index) {
  const Result<cache::Variant> variant = bundle.variant(index);
  if (!variant) return variant.status();
  return variant->name;
}

Json kind_json(const GemmKind& kind, const std::string& variant) {
  return {{"precision", clbake::name(kind.precision)}, {"trans", trans_name(kind)}, {"variant", variant}};
}

Result<Json> to_json(const Bundle& bundle, const cache::Rule& rule) {
  const Result<std::string> variant = variant_name(bundle, rule.variant);
  if (!variant) return variant.status();
  Json json = kind_json(rule, *variant);
  json["m"] = range_json(rule.m_min, rule.m_max);
  json["n"] = range_json(rule.n_min, rule.n_max);
  json["k"] = range_json(rule.k_min, rule.k_max);
  json["batch"] = range_json(rule.batch_min, rule.batch_max);
  return json;
}

Result<Json> to_json(const Bundle& bundle, const cache::CostModel& model) {
  const Result<std::string> variant = variant_name(bundle, model.variant);
  if (!variant) return variant.status();
  Json json = kind_json(model, *variant);
  json.update({{"tile", {model.tile_m, model.tile_n}},
               {"item", {model.item_m, model.item_n}},
               {"step_k", model.step_k},
               {"slices", model.slices},
               {"resident", model.resident},
               {"call_us", model.call_us},
               {"wave_us", model.wave_us},
               {"latency_us", model.latency_us},
               {"step_us", model.step_us},
               {"unaligned_us", model.unaligned_us},
               {"a_us", model.a_us},
               {"b_us", model.b_us},
               {"c_us", model.c_us},
               {"error", model.error},
               {"margin", model.margin}});
  return json;
}

template <typename T>
Status add_list(const Bundle& bundle, const char* key, const std::vector<T>& items, Json& profile) {
  Json& list = profile[key] = Json::array();
  for (const T& item : items) {
    Result<Json> json = to_json(bundle, item);
    if (!json) return json.status();
    list.push_back(std::move(*json));
  }
  return {};
}

Result<Json> profiles_json(const Bundle& bundle) {
  Json profiles = Json::array();
  for (std::uint32_t i = 0; i < bundle.profile_count(); ++i) {
    const Result<cache::Profile> profile = bundle.profile(i);
    if (!profile) return profile.status();
    Json json = {{"target", profile->target}, {"units", profile->units}};
    Status status = add_list(bundle, "exceptions", profile->exceptions, json);
    if (status) status = add_list(bundle, "models", profile->models, json);
    if (status) status = add_list(bundle, "defaults", profile->defaults, json);
    if (!status) return status;
    profiles.push_back(std::move(json));
  }
  return profiles;
}

// Null where they cannot be checked: without libsodium.
Json signatures_json(const Bundle& bundle) {
  const Result<std::vector<builder::release::SignatureReport>> signatures = builder::release::signatures_of(bundle);
  if (!signatures) return {};
  Json all = Json::array();
  for (const builder::release::SignatureReport& s : *signatures) {
    all.push_back({{"public_key", s.public_key}, {"release", s.release}, {"valid", s.valid}});
  }
  return all;
}

}  // namespace

Result<Json> bundle_report(const Bundle& bundle) {
  Json targets = Json::array();
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) {
    const Result<Target> target = bundle.target(i);
    if (!target) return target.status();
    targets.push_back(to_json(*target));
  }
  Json entries = Json::array();
  Totals totals;
  std::set<std::uint64_t> counted;
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    const Result<cache::EntryInfo> entry = bundle.entry(i);
    if (!entry) return entry.status();
    Result<Json> json = entry_json(bundle, *entry);
    if (!json) return json;
    entries.push_back(std::move(*json));
    totals.program_bytes += entry->program.raw_bytes;
    if (counted.insert(entry->program.offset).second) totals.stored_bytes += entry->program.stored_bytes;
  }
  Result<Json> profiles = profiles_json(bundle);
  if (!profiles) return profiles;
  const double ratio =
      totals.stored_bytes ? static_cast<double>(totals.program_bytes) / static_cast<double>(totals.stored_bytes) : 1.0;
  const Version version = bundle.version();
  const Result<std::string> identity = builder::release::identity_text(bundle);
  return Json{{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
              {"file_bytes", bundle.size_bytes()},
              {"digest", identity ? Json(*identity) : Json()},
              {"signatures", signatures_json(bundle)},
              {"bytes", totals.program_bytes},
              {"stored_bytes", totals.stored_bytes},
              {"ratio", ratio},
              {"variants", bundle.variant_count()},
              {"targets", targets},
              {"profiles", std::move(*profiles)},
              {"entries", entries}};
}

}  // namespace clbake::tool
