#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"

#include <cstdio>
#include <set>

namespace clbake::tool {
namespace {

struct Totals {
  std::uint64_t program_bytes = 0;  // as the drivers get them
  std::uint64_t stored_bytes = 0;   // in the file; programs that are equal count once
};

Result<Json> entry_json(const Bundle& bundle, const cache::EntryInfo& entry) {
  const Result<cache::Variant> variant = bundle.variant(entry.variant);
  if (!variant) return variant.status();
  Json json{{"target", entry.target},
            {"variant", variant->name},
            {"family", variant->family},
            {"precision", clbake::name(variant->precision)},
            {"form", entry.form == cache::Form::native ? "native" : "portable"},
            {"newer_driver", entry.newer_driver},
            {"bytes", entry.program.raw_bytes},
            {"stored_bytes", entry.program.stored_bytes}};
  json.update(to_json(entry.proof));
  return json;
}

// Null for any number; the upper end is null where there is none.
Json range_json(std::uint32_t min, std::uint32_t max) {
  if (min == 0 && max == UINT32_MAX) return {};
  return {min, max == UINT32_MAX ? Json() : Json(max)};
}

Result<Json> rule_json(const Bundle& bundle, const cache::Rule& rule) {
  const Result<cache::Variant> variant = bundle.variant(rule.variant);
  if (!variant) return variant.status();
  return Json{{"precision", clbake::name(rule.precision)},
              {"trans", std::string(rule.trans_a ? "t" : "n") + (rule.trans_b ? "t" : "n")},
              {"m", range_json(rule.m_min, rule.m_max)},
              {"n", range_json(rule.n_min, rule.n_max)},
              {"k", range_json(rule.k_min, rule.k_max)},
              {"batch", range_json(rule.batch_min, rule.batch_max)},
              {"variant", variant->name},
              {"gflops", rule.gflops > 0 ? Json(rule.gflops) : Json()}};
}

Result<Json> profiles_json(const Bundle& bundle) {
  Json profiles = Json::array();
  for (std::uint32_t i = 0; i < bundle.profile_count(); ++i) {
    const Result<cache::Profile> profile = bundle.profile(i);
    if (!profile) return profile.status();
    Json rules = Json::array();
    for (const cache::Rule& rule : profile->rules) {
      Result<Json> json = rule_json(bundle, rule);
      if (!json) return json;
      rules.push_back(std::move(*json));
    }
    profiles.push_back({{"target", profile->target}, {"rules", std::move(rules)}});
  }
  return profiles;
}

Result<Json> describe(const Bundle& bundle) {
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
  return Json{{"format", std::to_string(version.major) + "." + std::to_string(version.minor)},
              {"file_bytes", bundle.size_bytes()},
              {"bytes", totals.program_bytes},
              {"stored_bytes", totals.stored_bytes},
              {"ratio", ratio},
              {"targets", targets},
              {"profiles", std::move(*profiles)},
              {"entries", entries}};
}

// A dash for what was not measured.
std::string figure(const Json& value, const char* format) {
  if (value.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value.get<double>());
  return text;
}

// "m <= 128, batch 2 to 64"; "any size" when nothing is limited.
std::string ranges(const Json& rule) {
  std::string text;
  for (const char* size : {"m", "n", "k", "batch"}) {
    const Json& range = rule[size];
    if (range.is_null()) continue;
    text += (text.empty() ? "" : ", ") + std::string(size);
    if (range[1].is_null()) {
      text += " >= " + range[0].dump();
    } else {
      text += range[0] == 0 ? " <= " + range[1].dump() : " " + range[0].dump() + " to " + range[1].dump();
    }
  }
  return text.empty() ? "any size" : text;
}

// any_device(): default variants, for what the bundle was not baked for.
bool is_default(const Json& target) { return target["platform_name"] == ""; }

void print_profiles(const Json& profiles, const Json& targets) {
  for (const Json& profile : profiles) {
    if (is_default(targets[profile["target"].get<std::size_t>()])) continue;
    std::printf("\nprofile of target %d: %zu rules, the first that fits counts\n", profile["target"].get<int>(),
                profile["rules"].size());
    for (const Json& rule : profile["rules"]) {
      std::printf("%6s %s  %-52s %16s  %s\n", rule["precision"].get<std::string>().c_str(),
                  rule["trans"].get<std::string>().c_str(), rule["variant"].get<std::string>().c_str(),
                  figure(rule["gflops"], "%.1f GFLOP/s").c_str(), ranges(rule).c_str());
    }
  }
}

void print_table(const Json& json) {
  std::printf("format %s, %llu bytes; %zu targets, %zu entries; programs %llu -> %llu bytes (%.2f x)\n",
              json["format"].get<std::string>().c_str(), json["file_bytes"].get<unsigned long long>(),
              json["targets"].size(), json["entries"].size(), json["bytes"].get<unsigned long long>(),
              json["stored_bytes"].get<unsigned long long>(), json["ratio"].get<double>());
  for (std::size_t i = 0; i < json["targets"].size(); ++i) {
    const Json& t = json["targets"][i];
    if (is_default(t)) {
      std::printf("target %zu: %s; default variants as source, compiled where nothing else serves\n", i,
                  t["device_name"].get<std::string>().c_str());
      continue;
    }
    const std::string device = t["device_name"];  // empty: any device of the architecture
    std::printf("target %zu: %s; %s; driver %s; %s\n", i,
                device.empty() ? t["platform_name"].get<std::string>().c_str() : device.c_str(),
                t["platform_version"].get<std::string>().c_str(), t["driver_version"].get<std::string>().c_str(),
                t["architecture"].get<std::string>().c_str());
  }
  std::printf("\n%6s  %-52s %-8s %-6s %-8s %9s %9s %9s %9s %9s\n", "target", "variant", "form", "proven", "jit-free",
              "first us", "steady us", "error", "bytes", "stored");
  for (const Json& e : json["entries"]) {
    std::printf("%6d  %-52s %-8s %-6s %-8s %9s %9s %9s %9llu %9llu\n", e["target"].get<int>(),
                e["variant"].get<std::string>().c_str(), e["form"].get<std::string>().c_str(),
                e["proven"].get<bool>() ? "yes" : "NO", e["jit_free"].get<bool>() ? "yes" : "NO",
                figure(e["first_us"], "%.0f").c_str(), figure(e["steady_us"], "%.0f").c_str(),
                figure(e["max_error"], "%.1e").c_str(), e["bytes"].get<unsigned long long>(),
                e["stored_bytes"].get<unsigned long long>());
  }
  print_profiles(json["profiles"], json["targets"]);
}

}  // namespace

int inspect(const std::vector<std::string>& arguments) {
  Cli cli("inspect FILE [OPTIONS]", "Verifies every byte of a bundle and shows what it holds. Needs no OpenCL device.");
  cli.options()("json", "print JSON");
  if (const auto status = cli.parse(arguments)) return *status;
  const Result<Bundle> bundle = open_verified(cli.file());
  if (!bundle) return fail("inspect", bundle.status());
  const Result<Json> json = describe(*bundle);
  if (!json) return fail("inspect", json.status().within(cli.file()));
  if (cli.has("json")) {
    print(*json);
  } else {
    print_table(*json);
  }
  return kSuccess;
}

}  // namespace clbake::tool
