#include "report/measurements.hpp"

#include "bench/alternate.hpp"
#include "cli/arguments.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace clbake::tool {
namespace {

using Fields = std::vector<std::string>;

const Fields kRuns = {"run", "date", "machine", "device", "driver", "commit", "command"};
const Fields kGemm = {"run",   "precision",  "trans",  "m",    "n",           "k",
                      "batch", "activation", "gflops", "peer", "peer_gflops", "ratio"};
const Fields kCold = {"run",    "size",   "path",   "load_ms",  "first_launch_ms", "first_result_ms",
                      "min_ms", "max_ms", "trials", "steady_ms"};

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

std::string line(const Fields& fields) {
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : ",") + quoted(field);
  return text + '\n';
}

// Four digits.
std::string figure(double value) {
  std::ostringstream text;
  text.precision(4);
  text << value;
  return text.str();
}

// The file's text; its first line for a file that does not exist yet.
Result<std::string> text_of(const std::string& path, const Fields& columns) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return line(columns);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.rfind(line(columns), 0) == 0 && text.back() == '\n') return text;
  return {Code::malformed, path + ": the first line is not " + line(columns).substr(0, line(columns).size() - 1)};
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[sizeof "2026-01-01"];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

Status write(const std::string& path, const std::string& text) {
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// `rows`: without their run.
Status append(const Cli& cli, const std::string& command, const Target& target, const char* name, const Fields& columns,
              const std::vector<Fields>& rows) {
  const std::string directory = cli.text("csv");
  const std::string runs_path = directory + "/runs.csv", rows_path = directory + "/" + name;
  Result<std::string> runs = text_of(runs_path, kRuns), all = text_of(rows_path, columns);
  if (!runs || !all) return runs ? all.status() : runs.status();
  const std::string run = std::to_string(std::count(runs->begin(), runs->end(), '\n'));
  *runs +=
      line({run, today(), cli.text("machine"), target.device_name, target.driver_version, cli.text("commit"), command});
  for (const Fields& row : rows) *all += run + "," + line(row);
  const Status written = write(rows_path, *all);
  return written ? write(runs_path, *runs) : written;
}

std::string command_of(const char* verb, const std::vector<std::string>& arguments) {
  std::string text = std::string("clbake ") + verb;
  for (const std::string& argument : arguments) text += ' ' + argument;
  return text;
}

Status check(const Cli& cli, const char* name, const Fields& columns) {
  if (!cli.has("csv")) return {};
  const Status runs = text_of(cli.text("csv") + "/runs.csv", kRuns).status();
  return runs ? text_of(cli.text("csv") + "/" + name, columns).status() : runs;
}

}  // namespace

void add_measurement_options(Cli& cli) {
  cli.add_value("csv", "DIR", "also append the measurement to the CSV files of this directory");
  cli.add_value("machine", "NAME", "with --csv: what the tables call this machine");
  cli.add_value("commit", "HASH", "with --csv: the commit that is measured");
}

Status check_gemm_csv(const Cli& cli) { return check(cli, "gemm.csv", kGemm); }

Status check_cold_csv(const Cli& cli) { return check(cli, "cold.csv", kCold); }

Status append_gemm(const Cli& cli, const std::vector<std::string>& arguments, const GemmReport& report) {
  if (!cli.has("csv")) return {};
  std::vector<Fields> rows;
  for (const GemmRow& row : report.rows) {
    const Problem& p = row.problem;
    const bool fused = p.epilogue.bias != Bias::none;
    rows.push_back({name(p.precision), trans_name(p), std::to_string(p.m), std::to_string(p.n), std::to_string(p.k),
                    std::to_string(p.batch),
                    fused ? activation_words[static_cast<std::size_t>(p.epilogue.activation)] : "",
                    figure(gflops(p, row.us)), row.peer, row.peer.empty() ? "" : figure(gflops(p, row.peer_us)),
                    row.peer.empty() ? "" : figure(row.peer_us / row.us)});
  }
  return append(cli, command_of("bench gemm", arguments), report.target, "gemm.csv", kGemm, rows);
}

Status append_cold(const Cli& cli, const std::vector<std::string>& arguments, const ColdReport& report,
                   const Target& target) {
  if (!cli.has("csv")) return {};
  const Json json = to_json(report, target);
  std::vector<Fields> rows;
  for (const Json& row : json["rows"]) {
    const auto ms = [&](const char* field) { return figure(row[field].get<double>()); };
    rows.push_back({std::to_string(report.size), row["path"], ms("load_ms"), ms("first_launch_ms"),
                    ms("first_result_ms"), ms("first_result_ms_min"), ms("first_result_ms_max"), row["trials"].dump(),
                    ms("steady_ms")});
  }
  return append(cli, command_of("bench cold", arguments), target, "cold.csv", kCold, rows);
}

}  // namespace clbake::tool
