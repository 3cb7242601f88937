#include "cli/cli.hpp"
#include "command/verbs.hpp"
#include "report/bundle_report.hpp"

#include <clbake/builder/programs.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace clbake::tool {
namespace {

// "64", "16x16"; "any" where the driver chooses.
std::string local_text(const Json& size) {
  if (size[0] == 0) return "any";
  std::string text = size[0].dump();
  if (size[1] != 1 || size[2] != 1) text += "x" + size[1].dump();
  if (size[2] != 1) text += "x" + size[2].dump();
  return text;
}

// "scale 64, 16x16; add 64"
std::string kernels_text(const Json& kernels) {
  std::string text, last;
  for (const Json& kernel : kernels) {
    const std::string name = kernel["name"];
    text += name == last ? ", " : (text.empty() ? "" : "; ") + name + " ";
    text += local_text(kernel["work_group_size"]);
    last = name;
  }
  return text;
}

// Whose signatures there are; whether a key is to be trusted only its reader knows.
void print_trust(const Json& report) {
  if (report["digest"].is_null()) return;
  std::printf("digest %s\n", cell_text(report["digest"]).c_str());
  const Json& signatures = report["signatures"];
  if (signatures.empty()) {
    std::printf("not signed: nothing tells who made it, nor who made the bundles that it was joined from\n");
  }
  for (const Json& signature : signatures) {
    std::printf("%s by %s, release %s\n", signature["valid"].get<bool>() ? "signed" : "WRONG SIGNATURE, as if",
                cell_text(signature["public_key"]).c_str(), signature["release"].dump().c_str());
  }
}

// "2 to 64", ">= 5", "any".
std::string range_cell(const Json& range) {
  if (range.is_null()) return "any";
  return range[1].is_null() ? ">= " + range[0].dump() : range[0].dump() + " to " + range[1].dump();
}

void print_list(const char* title, const Json& rows, std::vector<Column> fields) {
  if (rows.empty()) return;
  std::printf("%s:\n", title);
  fields.insert(fields.begin(), {"precision", {"op", "trans"}, "variant"});
  print_table(fields, rows);
}

// For each target, all that its machine code depends on beside the device's name; and what some entries need besides.
void print_dependences(const Json& targets, const Json& entries) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string driver = targets[i]["driver_version"], platform = targets[i]["platform_version"];
    const std::string features = targets[i]["cpu_features"];
    if (!driver.empty()) {
      std::printf("target %zu: driver %s%s\n", i, printable(driver).c_str(),
                  platform.empty() ? "" : (", " + printable(platform)).c_str());
    }
    if (!features.empty()) std::printf("target %zu: a CPU with %s\n", i, printable(features).c_str());
  }
  std::map<std::string, std::size_t> needing;
  for (const Json& entry : entries) ++needing[entry.value("assembler", "")];
  needing.erase("");
  for (const auto& [feature, count] : needing) {
    std::printf("%s: a CPU with %s, besides\n", counted(count, "entry").c_str(), feature.c_str());
  }
}

// A row for each target. Those without entries, which serve every other device from source, come last.
Json shown_targets(const Json& summary) {
  const auto is_empty = [](const Json& row) { return row["native"] == 0 && row["portable"] == 0; };
  std::vector<Json> rows(summary.begin(), summary.end());
  for (Json& row : rows) {
    if (is_empty(row)) row["name"] = row["name"].get<std::string>() + " (from source)";
  }
  std::stable_partition(rows.begin(), rows.end(), [&](const Json& row) { return !is_empty(row); });
  return rows;
}

// The size, who signed it, a line for each target and what it depends on, and why entries are not JIT-free.
void print_summary(const Json& report, const std::string& file) {
  std::printf("%s: %s, %s, %s; every byte is intact\n", file.c_str(),
              counted(report["targets"].size(), "target").c_str(),
              counted(report["variants"].get<std::size_t>(), "variant").c_str(),
              counted(report["entries"].size(), "entry").c_str());
  std::printf("format %s; %s; programs of %s, stored in %s (%.2f x)\n", cell_text(report["format"]).c_str(),
              size_cell(report["file_bytes"]).c_str(), size_cell(report["bytes"]).c_str(),
              size_cell(report["stored_bytes"]).c_str(), report["ratio"].get<double>());
  if (report["trial_bytes"] > 0) {
    std::printf("recorded contents of arguments: %s; 'clbake merge --without-trials' leaves them out\n",
                size_cell(report["trial_bytes"]).c_str());
  }
  print_trust(report);
  std::printf("\n");
  print_table({"target",
               {"device", "name"},
               "kinds",
               "native",
               "portable",
               "proven",
               {"JIT-free", "jit_free"},
               {"programs", "bytes", size_cell}},
              shown_targets(report["summary"]));
  print_dependences(report["targets"], report["entries"]);
  for (const Json& target : report["summary"]) {
    for (const Json& row : target["not_jit_free"]) {
      const std::string note = row["note"];
      std::printf("target %s: %s not JIT-free: %s\n", target["target"].dump().c_str(), row["entries"].dump().c_str(),
                  note.empty() ? "no reason is recorded" : printable(note).c_str());
    }
  }
  std::set<std::string> shown;
  for (const Json& entry : report["entries"]) {
    if (!entry.contains("kernels") || !shown.insert(entry["variant"]).second) continue;
    const std::string name = printable(builder::program::shown_name(entry["variant"].get<std::string>()));
    const std::string kernels = printable(kernels_text(entry["kernels"]));
    std::printf("own program %s: %s\n", name.c_str(),
                kernels.empty() ? "its launches are not known" : ("kernels and work-group sizes " + kernels).c_str());
    const std::vector<std::string> untried = entry["untried"];
    if (!untried.empty() && !kernels.empty()) {
      std::printf("own program %s: untried: %s\n", name.c_str(),
                  printable(builder::program::kernels_text(untried)).c_str());
    }
    if (!entry["unlisted"].is_null()) {
      std::printf("own program %s: not listed: %s\n", name.c_str(), cell_text(entry["unlisted"]).c_str());
    }
  }
}

void print_entries(const Json& report) {
  std::printf("\n");
  print_table({"target",
               {"variant", "variant", name_cell},
               "form",
               "proven",
               {"JIT-free", "jit_free"},
               {"first us", "first_us"},
               {"steady us", "steady_us"},
               {"error", "max_error"},
               "bytes",
               {"stored", "stored_bytes"}},
              report["entries"]);
}

void print_profiles(const Json& report) {
  const std::vector<Column> ranges = {
      {"m", "m", range_cell}, {"n", "n", range_cell}, {"k", "k", range_cell}, {"batch", "batch", range_cell}};
  std::vector<Column> fields = {"regime"};
  for (const auto& [name, field] : cache::kCostModelNumbers) fields.emplace_back(name);
  for (const Json& profile : report["profiles"]) {
    std::printf("\nprofile of target %s: %s\n", profile["target"].dump().c_str(), profile_text(profile).c_str());
    print_list("exceptions, the first that matches decides", profile["exceptions"], ranges);
    print_list("cost models, the least expected time decides", profile["models"], fields);
    print_list("defaults, which the cost models have to beat", profile["defaults"], ranges);
  }
}

void print_index(const Json& report, const std::string& file) {
  std::printf("%s: an index of release %s, %s; every byte is intact\n", file.c_str(), report["release"].dump().c_str(),
              size_cell(report["file_bytes"]).c_str());
  std::printf("%s of %s; %s\n", counted(report["slices"].size(), "slice").c_str(), size_cell(report["bytes"]).c_str(),
              counted(report["programs"].get<std::size_t>(), "own program").c_str());
  print_trust(report);
  std::printf("\n");
  print_table({"target", "device", "kinds", "forms", {"bytes", "bytes", size_cell}, "file"}, report["slices"]);
}

}  // namespace

int inspect(const std::vector<std::string>& arguments) {
  Cli cli("inspect FILE [OPTIONS]",
          "Verifies every byte of a bundle and shows what it holds: a line for each target, with the kinds of\n"
          "problems that it serves, and how many of its programs are proven and JIT-free; of an index its slices.\n"
          "Needs no OpenCL device.");
  cli.add_flag("entries", "also list every program with the figures of its proof");
  cli.add_flag("profile", "also list the cost models and rules by which the runtime chooses a variant");
  cli.add_json();
  if (const auto status = cli.parse(arguments)) return *status;
  const std::string file = cli.file();
  const Bundle bundle = open_verified(file);
  const bool is_index = bundle.is_index();
  const Json report = is_index ? index_report(bundle, file) : bundle_report(bundle, file);
  if (cli.has("json")) {
    print(report);
    return kSuccess;
  }
  if (is_index) {
    print_index(report, file);
    return kSuccess;
  }
  print_summary(report, file);
  if (cli.has("entries")) print_entries(report);
  if (cli.has("profile")) print_profiles(report);
  return kSuccess;
}

}  // namespace clbake::tool
