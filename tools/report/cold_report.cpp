#include "report/cold_report.hpp"

#include "cli/cli.hpp"
#include "cli/table.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

constexpr const char* kFigures[] = {"start_ms",        "platform_ms",     "context_ms", "load_ms",
                                    "first_launch_ms", "first_result_ms", "steady_ms"};

// The median of the trials, the fastest and the slowest.
void add(const ColdRow& row, const std::string& name, Json& json) {
  std::vector<double> values;
  for (const Json& trial : row.trials) values.push_back(trial[name]);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  json[name] = builder::median(values);
  json[name + "_min"] = *min;
  json[name + "_max"] = *max;
}

}  // namespace

Json to_json(const ColdReport& report, const Target& target) {
  Json list = Json::array();
  double bundle_ms = 0;
  for (const ColdRow& row : report.rows) {
    Json json = {{"path", row.path}, {"label", row.label}};
    for (const char* name : kFigures) add(row, name, json);
    if (json["path"] == "bundle") bundle_ms = json["first_result_ms"];
    for (const char* name : {"origin", "variant"}) {
      if (row.trials.front().contains(name)) json[name] = row.trials.front()[name];
    }
    if (row.jit_free) json["jit_free"] = *row.jit_free;
    json["trials"] = row.trials.size();
    list.push_back(std::move(json));
  }
  for (Json& json : list) json["against_bundle"] = json["first_result_ms"].get<double>() / bundle_ms;
  return {{"device", target.device_name},
          {"driver", target.driver_version},
          {"m", report.size},
          {"n", report.size},
          {"k", report.size},
          {"precision", "single"},
          {"rows", list}};
}

void print_text(const ColdReport& report, const Target& target) {
  std::printf("First correct result of a %zu x %zu x %zu product in single precision, from an existing context\n",
              report.size, report.size, report.size);
  std::printf("%s; driver %s; %s each, in new processes; medians in ms\n\n", target.device_name.c_str(),
              target.driver_version.c_str(), counted(report.rows.front().trials.size(), "trial").c_str());
  print_table({{"program from", "label"},
               {"start", "start_ms"},
               {"platform", "platform_ms"},
               {"context", "context_ms"},
               {"load", "load_ms"},
               {"first launch", "first_launch_ms"},
               {"first result", "first_result_ms"},
               {"fastest", "first_result_ms_min"},
               {"slowest", "first_result_ms_max"},
               {"steady", "steady_ms"},
               {"times the bundle's", "against_bundle"}},
              to_json(report, target)["rows"]);
  std::printf(
      "\nstart: from spawn to main. first result: load and first launch. cold, warm: the driver's cache is empty, or\n"
      "filled by an earlier process. Other libraries compile inside their first launch and have no load.\n");
}

}  // namespace clbake::tool
