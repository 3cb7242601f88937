#include "cli/cli.hpp"
#include "cli/printable.hpp"
#include "cli/table.hpp"
#include "command/release/shapes_option.hpp"
#include "command/verbs.hpp"
#include "report/bundle_report.hpp"
#include "report/served_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace clbake::tool {
namespace {

using namespace builder::release;

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

Records variants_of(const Bundle& bundle) {
  Records variants;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const cache::Variant v = need(bundle.variant(i));
    const cache::Source source = need(bundle.source(v.source));
    Json launches = Json::array();
    for (const cache::Launch& launch : v.launches) {
      launches.push_back(
          {static_cast<int>(launch.role), launch.kernel_name, launch.local, launch.tile_m, launch.tile_n});
    }
    const Json contents = {name(v.precision), v.trans_a,   v.trans_b, v.family,       v.image_a, v.image_b,
                           v.contract,        v.block_m,   v.block_n, v.block_k,      v.split_k, v.trial,
                           source.name,       source.text, launches,  v.build_options};
    const std::string text = dumped(contents);
    char hash[32];
    std::snprintf(hash, sizeof hash, "%016zx", std::hash<std::string>()(text));
    variants[v.name] = {v.name, v.family + " " + hash, text, "", ""};
  }
  return variants;
}

// The records in the JSON of `inspect`.
BundleRecords records_of(const Bundle& bundle) {
  BundleRecords all;
  all.variants = variants_of(bundle);
  Json report = need(bundle_report(bundle));
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
        names[target] + ": " + variant + (form == "native" ? "" : " (portable)"), text, contents, proof, dumped(entry)};
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

// ---- With --shapes: what serves each problem, and each program of the application's own.

bool is_baked(const Served& served) { return served.program && served.program->origin != Origin::source; }

// By another variant or form, for another reason, or with less or more proof.
bool differently(const Served& before, const Served& after) {
  if (!before.program || !after.program) return before.program || after.program;
  const ServedProgram& a = *before.program;
  const ServedProgram& b = *after.program;
  return before.by != after.by ||
         std::tie(a.name, a.origin, a.proven, a.jit_free) != std::tie(b.name, b.origin, b.proven, b.jit_free);
}

std::string served_text(const Served& served) {
  if (!served.program) return "nothing";
  const std::string us = served.expected_us ? ", " + cell_text(Json(*served.expected_us)) + " us" : "";
  return served.program->name + " (" + clbake::name(served.program->origin) + us + ")";
}

// Adds "served", a row for each target, and "changed", one for each subject that is served differently: first those
// without times, then those on which most is expected to be lost or gained.
void compare_served(const std::vector<CheckedDevice>& before, const std::vector<CheckedDevice>& after,
                    const std::vector<Subject>& subjects, Json& json) {
  Json targets = Json::array();
  std::vector<std::pair<double, Json>> changed;
  for (std::size_t d = 0; d < before.size(); ++d) {
    std::size_t lost = 0, gained = 0, different = 0, timed = 0;
    double us[2] = {0, 0};
    for (std::size_t s = 0; s < subjects.size(); ++s) {
      const Served& a = before[d].served[s];
      const Served& b = after[d].served[s];
      lost += is_baked(a) && !is_baked(b) ? 1 : 0;
      gained += !is_baked(a) && is_baked(b) ? 1 : 0;
      different += differently(a, b) ? 1 : 0;
      const bool has_times = a.expected_us && b.expected_us;
      if (has_times) {
        ++timed;
        us[0] += subjects[s].weight * *a.expected_us;
        us[1] += subjects[s].weight * *b.expected_us;
      }
      if (!differently(a, b)) continue;
      const bool comparable = has_times && is_baked(a) == is_baked(b);
      const double change = comparable ? std::fabs(*b.expected_us - *a.expected_us) * subjects[s].weight : HUGE_VAL;
      Json row{{"target", before[d].device.name}, {"subject", subjects[s].name}, {"weight", subjects[s].weight}};
      row.update({{"was", served_text(a)}, {"is", served_text(b)}});
      row.update({{"before", to_json(a, lack_of(a, {}))}, {"after", to_json(b, lack_of(b, {}))}});
      changed.emplace_back(-change, std::move(row));
    }
    targets.push_back({{"target", before[d].device.name},
                       {"lost", lost},
                       {"gained", gained},
                       {"different", different},
                       {"timed", timed},
                       {"before_us", timed > 0 ? Json(us[0]) : Json()},
                       {"after_us", timed > 0 ? Json(us[1]) : Json()}});
  }
  std::stable_sort(changed.begin(), changed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  json["served"] = std::move(targets);
  json["changed"] = Json::array();
  for (auto& [change, row] : changed) json["changed"].push_back(std::move(row));
}

void print_text(const Json& json) {
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
  if (!json.contains("served")) return;
  std::printf("\nproblems and programs that are served differently; times are sums by weight over those with a time\n");
  print_table({"lost", "gained", "different", "timed", {"before us", "before_us"}, {"after us", "after_us"}, "target"},
              json["served"]);
  if (json["changed"].empty()) return;
  std::printf("\n");
  print_table({"target", {"problem", "subject"}, {"before", "was"}, {"after", "is"}}, json["changed"], kMostLines);
}

Json compare(const Cli& cli) {
  std::vector<Bundle> bundles;
  std::vector<BundleRecords> records;
  Json json;
  for (const std::string& file : cli.files()) {
    bundles.push_back(need(open_verified(file)));
    records.push_back(records_of(bundles.back()));
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
  if (!cli.has("shapes")) return json;
  const std::vector<Subject> subjects = need(subjects_of(shapes_asked_for(cli, bundles), bundles));
  const std::vector<ServedDevice> devices = need(devices_of(bundles));
  const auto served_by = [&](const Bundle& bundle) {
    return need(builder::release::check({bundle}, devices, subjects, cli.has("newer-driver")));
  };
  compare_served(served_by(bundles[0]), served_by(bundles[1]), subjects, json);
  return json;
}

}  // namespace

int diff(const std::vector<std::string>& arguments) {
  Cli cli("diff FILE... [OPTIONS]",
          "Shows what differs between two bundles, before and after: targets, variants, programs, proofs, rules and "
          "cost models and, with --shapes, what serves each problem. Exit status: 0, nothing differs; 1, something "
          "does; 2, wrong usage or a failure. Needs no OpenCL device.");
  cli.add_value("shapes", "FILE", "also compare what serves the problems of this file: see 'clbake check'");
  add_kinds(cli, "; for lines of --shapes that name none; default: all that the bundles have");
  cli.add_flag("newer-driver", "as applications that set Options::newer_driver: machine code for older drivers serves");
  cli.add_flag("ignore-measured", "differences in measured times, errors and notes alone are none");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  if (cli.files().size() != 2) throw UsageError("give two bundles");
  const Json json = compare(cli);
  cli.has("json") ? print(json) : print_text(json);
  return json["equal"] == true ? kSuccess : kDifferent;
}

}  // namespace clbake::tool
