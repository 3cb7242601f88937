#include "cli/cli.hpp"
#include "cli/json.hpp"
#include "command/verbs.hpp"
#include "report/bundle_report.hpp"

#include <clbake/builder/programs.hpp>

#include <cstdio>
#include <map>

namespace clbake::tool {
namespace {

constexpr int kDifferent = 1;  // as of diff(1) and cmp(1); a failure is 2 (clbake.cpp)
constexpr std::size_t kMostLines = 20;

// ---- Records: targets are equal by their fields, variants by their names, entries by target, variant and form.

struct Record {
  std::string name;      // for people
  std::string text;      // what it is, for people
  std::string contents;  // differs when the record does
  std::string proof;     // of an entry
  std::string measured;  // times, errors and notes of its proof
};
using Records = std::map<std::string, Record>;  // by the key by which they are equal

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The members of these names, which are taken out.
std::string taken(Json& json, const std::vector<const char*>& names) {
  Json part;
  for (const char* name : names) {
    part[name] = std::move(json[name]);
    json.erase(name);
  }
  return dumped(part);
}

struct BundleRecords {
  Records targets, variants, entries, profiles;
};

Records variants_of(const Bundle& bundle, const std::string& file) {
  Records variants;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const cache::Variant v = need(bundle.variant(i), file);
    const cache::Source source = need(bundle.source(v.source), file);
    const std::string trial = v.trial == 0 ? std::string() : need(bundle.source(v.trial - 1), file).text;
    Json launches = Json::array();
    for (const cache::Launch& launch : v.launches) {
      launches.push_back(
          {static_cast<int>(launch.role), launch.kernel_name, launch.local, launch.tile_m, launch.tile_n});
    }
    const Json contents = {name(v.precision),
                           v.trans_a,
                           v.trans_b,
                           v.family,
                           v.image_a,
                           v.image_b,
                           v.contract,
                           v.block_m,
                           v.block_n,
                           v.block_k,
                           v.split_k,
                           trial,
                           source.name,
                           source.text,
                           launches,
                           v.build_options,
                           content_name(v.content)};
    const std::string text = dumped(contents);
    char hash[32];
    std::snprintf(hash, sizeof hash, "%016zx", std::hash<std::string>()(text));
    variants[v.name] = {builder::program::shown_name(v.name), v.family + " " + hash, text, "", ""};
  }
  return variants;
}

// The records in the JSON of `inspect`.
BundleRecords records_of(const Bundle& bundle, const std::string& file) {
  BundleRecords all;
  all.variants = variants_of(bundle, file);
  Json report = bundle_report(bundle, file);
  std::vector<std::string> keys, names;
  for (std::uint32_t t = 0; t < bundle.target_count(); ++t) {
    keys.push_back(dumped(report["targets"][t]));
    names.push_back(report["summary"][t]["name"]);
    all.targets[keys.back()] = {names.back(), report["targets"][t]["platform_version"], "", "", ""};
  }
  for (Json& profile : report["profiles"]) {
    const auto target = profile["target"].get<std::size_t>();
    const std::string text = profile_text(profile);
    profile.erase("target");
    all.profiles[keys[target]] = {names[target], text, dumped(profile), "", ""};
  }
  for (Json& entry : report["entries"]) {
    const auto target = entry["target"].get<std::size_t>();
    const std::string variant = entry["variant"], form = entry["form"];
    const std::string text = entry["checksum"].get<std::string>() + " of " + size_cell(entry["bytes"]) +
                             (entry["proven"] == true ? ", proven" : ", not proven") +
                             (entry["jit_free"] == true ? ", JIT-free" : ", not JIT-free");
    const std::string contents = taken(entry, {"bytes", "checksum", "newer_driver"});
    const std::string proof = taken(entry, {"proven", "jit_free", "specialisations", "tools", "device", "driver"});
    entry.erase("target");
    entry.erase("stored_bytes");
    all.entries[keys[target] + variant + form] = {
        names[target] + ": " + builder::program::shown_name(variant) + (form == "native" ? "" : " (portable)"), text,
        contents, proof, dumped(entry)};
  }
  return all;
}

// Records that only one of the bundles has, or that differ: {"record", "name", "before", "after"}.
void compare(const char* kind, const Records& before, const Records& after, Json& differences, std::size_t& measured) {
  const auto add = [&](const char* record, const std::string& name, const Json& old_text, const Json& new_text) {
    differences.push_back({{"record", record}, {"name", name}, {"before", old_text}, {"after", new_text}});
  };
  for (const auto& [key, a] : before) {
    const auto found = after.find(key);
    if (found == after.end()) {
      add(kind, a.name, a.text, {});
    } else if (const Record& b = found->second; a.contents != b.contents) {
      add(kind, a.name, a.text, b.text);
    } else if (a.proof != b.proof) {
      add("proof", a.name, a.text, b.text);
    } else {
      measured += a.measured != b.measured ? 1 : 0;
    }
  }
  for (const auto& [key, b] : after) {
    if (before.count(key) == 0) add(kind, b.name, {}, b.text);
  }
}

void print_diff(const Json& json) {
  for (const char* side : {"before", "after"}) {
    std::printf("%s %s: %s\n", side[0] == 'b' ? "---" : "+++", json[side]["file"].get<std::string>().c_str(),
                size_cell(json[side]["bytes"]).c_str());
  }
  for (const char* record : {"target", "variant", "program", "proof", "profile"}) {
    Json rows = Json::array();
    for (const Json& row : json["differences"]) {
      if (row["record"] == record) rows.push_back(row);
    }
    if (rows.empty()) continue;
    std::printf("\n%ss that differ: %zu\n", record, rows.size());
    print_table({"name", "before", "after"}, rows, kMostLines);
  }
  const auto measured = json["measured_differently"].get<std::size_t>();
  if (measured > 0) std::printf("measured times that differ: of %s\n", counted(measured, "entry").c_str());
  if (json["equal"] == true) std::printf("nothing differs%s\n", measured > 0 ? " but these times" : "");
}

Json compare(const Cli& cli) {
  std::vector<Bundle> bundles;
  std::vector<BundleRecords> records;
  Json json;
  for (const std::string& file : cli.files()) {
    bundles.push_back(open_verified(file));
    records.push_back(records_of(bundles.back(), file));
    json[bundles.size() == 1 ? "before" : "after"] = {{"file", file}, {"bytes", bundles.back().size_bytes()}};
  }
  Json differences = Json::array();
  std::size_t measured = 0;
  compare("target", records[0].targets, records[1].targets, differences, measured);
  compare("variant", records[0].variants, records[1].variants, differences, measured);
  compare("program", records[0].entries, records[1].entries, differences, measured);
  compare("profile", records[0].profiles, records[1].profiles, differences, measured);
  json["equal"] = differences.empty() && (measured == 0 || cli.has("ignore-measured"));
  json["differences"] = std::move(differences);
  json["measured_differently"] = measured;
  return json;
}

}  // namespace

int diff(const std::vector<std::string>& arguments) {
  Cli cli("diff FILE... [OPTIONS]",
          "Shows what differs between two bundles, before and after: targets, variants, programs, proofs, rules\n"
          "and cost models. Exit status: 0, nothing differs; 1, something does; 2, wrong usage or a failure. Needs\n"
          "no OpenCL device. 'clbake report --against' shows how problems are served, before and after.");
  cli.add_flag("ignore-measured", "differences in measured times, errors and notes alone are none");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.files().size() != 2) throw UsageError("give two bundles");
  const Json json = compare(cli);
  cli.has("json") ? print(json) : print_diff(json);
  return json["equal"] == true ? kSuccess : kDifferent;
}

}  // namespace clbake::tool
