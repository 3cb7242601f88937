#include "report/cold_report.hpp"

#include "cli/cli.hpp"

#include <clbake/builder/gemm_run.hpp>

#include <algorithm>
#include <cstdio>

namespace clbake::tool {
namespace {

constexpr const char* kFigures[] = {"start_ms",        "platform_ms",     "context_ms", "load_ms",
                                    "first_launch_ms", "first_result_ms", "steady_ms"};

struct Figure {
  double median = 0;
  double min = 0;
  double max = 0;
};

Figure figure(const std::vector<double>& values) {
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return {builder::median(values), *min, *max};
}

Figure figure(const ColdRow& row, const char* name) {
  std::vector<double> values;
  for (const Json& trial : row.trials) values.push_back(trial[name]);
  return figure(values);
}

void add(Json& json, const std::string& name, const Figure& f) {
  json[name] = f.median;
  json[name + "_min"] = f.min;
  json[name + "_max"] = f.max;
}

double against_bundle(const ColdReport& report, const ColdRow& row) {
  return figure(row, "first_result_ms").median / figure(bundle_row(report), "first_result_ms").median;
}

bool is_peer(const ColdRow& row) { return !row.job.peer.empty(); }

// Three or four digits.
std::string text(double ms) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.*f", ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0, ms);
  return digits;
}

std::string range(const Figure& f) { return text(f.median) + " (" + text(f.min) + "-" + text(f.max) + ")"; }

// A dash for a step that the row does not have.
std::string cell(const ColdRow& row, const char* name) {
  const double ms = figure(row, name).median;
  return ms < 0.005 ? "-" : text(ms);
}

void print_line(const std::vector<std::string>& cells) {
  constexpr int kWidths[] = {-13, 6, 8, 7, 6, 12, 18, 6, 14};  // negative: to the left
  for (std::size_t i = 0; i < cells.size(); ++i) std::printf("| %*s ", kWidths[i], cells[i].c_str());
  std::printf("|\n");
}

}  // namespace

const ColdRow& bundle_row(const ColdReport& report) {
  return *std::find_if(report.rows.begin(), report.rows.end(),
                       [](const ColdRow& row) { return row.path == std::string("bundle"); });
}

Json to_json(const ColdReport& report, const Target& target) {
  const std::size_t trials = report.rows.front().trials.size();
  Json list = Json::array();
  for (const ColdRow& row : report.rows) {
    Json json = {{"path", row.path}};
    for (const char* name : kFigures) add(json, name, figure(row, name));
    json["against_bundle"] = against_bundle(report, row);
    for (const char* name : {"origin", "variant"}) {
      if (row.trials.front().contains(name)) json[name] = row.trials.front()[name];
    }
    if (row.jit_free) json["jit_free"] = *row.jit_free;
    json["trials"] = trials;
    json["device"] = target.device_name;
    list.push_back(std::move(json));
  }
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
  print_line({"program from", "start", "platform", "context", "load", "first launch", "first result", "steady",
              "against bundle"});
  std::printf(
      "|---------------|-------:|---------:|--------:|-------:|-------------:|-------------------:|-------:|"
      "---------------:|\n");
  for (const ColdRow& row : report.rows) {
    print_line({row.label, cell(row, "start_ms"), cell(row, "platform_ms"), cell(row, "context_ms"),
                cell(row, "load_ms"), cell(row, "first_launch_ms"), range(figure(row, "first_result_ms")),
                cell(row, "steady_ms"), text(against_bundle(report, row)) + " x"});
  }
  std::printf(
      "\nstart: from spawn to main. first result: load and first launch (fastest-slowest trial).\n"
      "cold, warm: the driver's cache is empty, or filled by an earlier process.\n");
  if (std::any_of(report.rows.begin(), report.rows.end(), is_peer)) {
    std::printf(
        "Other libraries: start includes opening the library; they compile inside their first launch and have no "
        "load.\n");
  }
}

}  // namespace clbake::tool
