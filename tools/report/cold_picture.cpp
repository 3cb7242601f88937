// The picture of `bench cold --svg`. First results lie between a millisecond and several seconds, so the axis is
// logarithmic; a bar's length would mean nothing there, so each row is a dot, with the time beside it in words.
#include "report/cold_picture.hpp"

#include "cli/printable.hpp"
#include "report/svg.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace clbake::tool {
namespace {

// ---- What is drawn ----

struct Row {
  std::string name;
  std::string detail;
  bool is_clbake = false;
  double ms = 0;  // median
  double min_ms = 0;
  double max_ms = 0;
};

struct Chart {
  std::string subject;  // the product and the device
  std::string method;   // how it was measured
  std::vector<Row> rows;
};

struct Label {
  const char* path;  // of the row in the JSON
  const char* name;
  const char* detail;
};

constexpr Label kLabels[] = {
    {"source-cold", "OpenCL source", "driver's cache empty"},  {"source-warm", "OpenCL source", "cached by the driver"},
    {"plain", "The driver's binary", "from clGetProgramInfo"}, {"bundle", "clbake bundle", ""},
    {"clblast-cold", "CLBlast", "driver's cache empty"},       {"clblast-warm", "CLBlast", "cached by the driver"},
    {"openblas", "OpenBLAS", "CPU library, no OpenCL"},        {"cublas", "cuBLAS", "CUDA library, no OpenCL"},
};

// ---- From JSON ----

constexpr double kLeastMs = 1e-3;
constexpr double kMostMs = 1e8;  // a day

Status wrong(const std::string& field, const char* what) { return {Code::malformed, field + ": " + what}; }

Status read_text(const Json& object, const char* name, const std::string& where, std::string& text) {
  if (!object.contains(name) || !object[name].is_string()) return wrong(where + name, "is not text");
  text = object[name];
  return {};
}

Status read_count(const Json& object, const char* name, const std::string& where, std::int64_t& count) {
  if (!object.contains(name) || !object[name].is_number_integer()) return wrong(where + name, "is not a count");
  count = object[name];
  return count > 0 ? Status() : wrong(where + name, "is not a count");
}

Status read_ms(const Json& object, const char* name, const std::string& where, double& ms) {
  if (!object.contains(name) || !object[name].is_number()) return wrong(where + name, "is not a number");
  ms = object[name];
  if (ms >= kLeastMs && ms <= kMostMs) return {};
  return wrong(where + name, "is not a time between a microsecond and a day, in ms");
}

Result<Row> read_row(const Json& json, const std::string& name) {
  if (!json.is_object()) return wrong(name, "is not an object");
  const std::string where = name + ".";
  Row row;
  std::string path;
  Status read = read_text(json, "path", where, path);
  if (read) read = read_ms(json, "first_result_ms", where, row.ms);
  if (read) read = read_ms(json, "first_result_ms_min", where, row.min_ms);
  if (read) read = read_ms(json, "first_result_ms_max", where, row.max_ms);
  if (!read) return read;
  if (row.min_ms > row.ms || row.ms > row.max_ms) {
    return wrong(where + "first_result_ms", "does not lie between its _min and _max");
  }
  const auto label =
      std::find_if(std::begin(kLabels), std::end(kLabels), [&](const Label& l) { return path == l.path; });
  row.name = label == std::end(kLabels) ? path : label->name;
  row.detail = label == std::end(kLabels) ? "" : label->detail;
  row.is_clbake = path == "bundle";
  if (row.is_clbake) row.detail = json.value("jit_free", Json()) == true ? "nothing left to compile" : "not JIT-free";
  return row;
}

// The lines of text above and below the rows.
Status read_captions(const Json& report, Chart& chart) {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t trials = 0;
  std::string precision;
  std::string device;
  Status read = read_count(report, "m", "", m);
  if (read) read = read_count(report, "n", "", n);
  if (read) read = read_count(report, "k", "", k);
  if (read) read = read_text(report, "precision", "", precision);
  if (read) read = read_text(report["rows"][0], "device", "rows[0].", device);
  if (read) read = read_count(report["rows"][0], "trials", "rows[0].", trials);
  if (!read) return read;
  chart.subject = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + " in " + precision +
                  " precision on " + device;
  chart.method = "Median of " + std::to_string(trials) + (trials == 1 ? " new process" : " new processes") +
                 ", from an existing OpenCL context; band: fastest to slowest; logarithmic scale";
  return {};
}

Result<Chart> read_chart(const Json& report) {
  if (!report.is_object() || !report.contains("rows") || !report["rows"].is_array() || report["rows"].empty()) {
    return wrong("rows", "is not a list of results");
  }
  Chart chart;
  for (std::size_t i = 0; i < report["rows"].size(); ++i) {
    Result<Row> row = read_row(report["rows"][i], "rows[" + std::to_string(i) + "]");
    if (!row) return row.status();
    chart.rows.push_back(std::move(*row));
  }
  const Status read = read_captions(report, chart);
  if (!read) return read;
  std::stable_sort(chart.rows.begin(), chart.rows.end(), [](const Row& a, const Row& b) { return a.ms < b.ms; });
  return chart;
}

// ---- To SVG; lengths in user units, of which the picture is 760 wide ----

constexpr double kWidth = 760;
constexpr double kLeft = 190;   // of the axis
constexpr double kRight = 670;  // leaves room for the text beside the slowest
constexpr double kTop = 84;     // of the first row
constexpr double kRowHeight = 42;
constexpr double kBelow = 62;  // the axis' numbers and the last line

// Two or three digits: "4.1 ms", "458 ms", "5.9 s".
std::string duration(double ms) {
  if (ms < 0.1) return number(ms * 1000, 0) + " us";
  if (ms < 0.995) return number(ms, 2) + " ms";
  if (ms < 9.95) return number(ms, 1) + " ms";
  if (ms < 999.5) return number(ms, 0) + " ms";
  return ms < 99950 ? number(ms / 1000, 1) + " s" : number(ms / 1000, 0) + " s";
}

// A power of ten: "1 ms", "10 s".
std::string tick_label(int exponent) {
  const int unit = exponent < 0 ? -3 : exponent < 3 ? 0 : 3;
  const char* name = unit < 0 ? " us" : unit == 0 ? " ms" : " s";
  return number(std::pow(10, exponent - unit), 0) + name;
}

// The powers of ten, in ms, between which all of the chart lies.
struct Axis {
  int first;
  int last;

  double x(double ms) const { return kLeft + (std::log10(ms) - first) / (last - first) * (kRight - kLeft); }
};

Axis axis_of(const Chart& chart) {
  double least = kMostMs;
  double most = kLeastMs;
  for (const Row& row : chart.rows) {
    least = std::min(least, row.min_ms);
    most = std::max(most, row.max_ms);
  }
  const int first = static_cast<int>(std::floor(std::log10(least)));
  return {first, std::max(first + 1, static_cast<int>(std::ceil(std::log10(most))))};
}

std::string draw_axis(const Axis& axis, double bottom) {
  std::string svg;
  for (int exponent = axis.first; exponent <= axis.last; ++exponent) {
    const double x = axis.x(std::pow(10, exponent));
    svg += line(x, kTop - 6, x, bottom, "grid");
    svg += text_at(x, bottom + 18, "small middle", tick_label(exponent));
  }
  return svg;
}

std::string draw_row(const Row& row, const Axis& axis, double y) {
  const char* color = row.is_clbake ? "ours" : "other";
  const double middle = y + kRowHeight / 2;
  const double x = axis.x(row.ms);
  const double x_min = axis.x(row.min_ms);
  const double x_max = axis.x(row.max_ms);
  std::string svg = "<g class=\"" + std::string(color) + "\">\n";
  svg += text_at(20, row.detail.empty() ? middle + 5 : middle - 2, "name", row.name);
  if (!row.detail.empty()) svg += text_at(20, middle + 14, "small", row.detail);
  svg += line(kLeft, middle, x_min, middle, "stem");
  svg += line(x_min, middle, x_max, middle, "band");
  svg += "<circle cx=\"" + number(x, 1) + "\" cy=\"" + number(middle, 1) + "\" r=\"7\"/>\n";
  svg += text_at(std::max(x + 7, x_max) + 10, middle + 5, "value", duration(row.ms));
  return svg + "</g>\n";
}

// The alternative text, for screen readers.
std::string description(const Chart& chart) {
  std::string text = chart.subject + ".";
  for (const Row& row : chart.rows) {
    text += " " + row.name + (row.detail.empty() ? "" : " (" + row.detail + ")") + ": " + duration(row.ms) + ".";
  }
  return text;
}

// The start of every picture, by which an earlier one is recognised.
constexpr const char* kBegin =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"clbake-cold-title clbake-cold-text\" ";

constexpr const char* kStyle = R"(<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Arial, sans-serif; fill: #1f2328; }
  .title { font-size: 20px; font-weight: 600; }
  .name, .value { font-size: 15px; }
  .small { font-size: 12.5px; fill: #59636e; }
  .middle { text-anchor: middle; }
  .ours .name, .ours .value { font-weight: 700; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .grid { stroke: #d1d9e0; }
  .stem { stroke-width: 2; stroke-dasharray: 2 4; }
  .value { paint-order: stroke; stroke: #ffffff; stroke-width: 6px; }
  .band { stroke-width: 8; stroke-linecap: round; stroke-opacity: 0.35; }
  .ours { fill: #0969da; stroke: #0969da; }
  .other { fill: #6e7781; stroke: #6e7781; }
  .name, g .small { stroke: none; }
  .ours .value, .ours .name { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .value { stroke: #0d1117; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .grid { stroke: #30363d; }
    .ours { fill: #4493f8; stroke: #4493f8; }
    .other { fill: #8b949e; stroke: #8b949e; }
    .ours .value, .ours .name { fill: #4493f8; }
  }
</style>
)";

std::string draw(const Chart& chart) {
  const Axis axis = axis_of(chart);
  const double bottom = kTop + kRowHeight * static_cast<double>(chart.rows.size());
  const std::string width = number(kWidth, 0);
  const std::string height = number(bottom + kBelow, 0);
  const std::string title = "Time to the first correct matrix product";
  std::string svg = kBegin;
  svg += "width=\"" + width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height + "\">\n";
  svg += "<title id=\"clbake-cold-title\">" + title + "</title>\n";
  svg += "<desc id=\"clbake-cold-text\">" + escaped(description(chart)) + "</desc>\n";
  svg += kStyle;
  svg += "<rect x=\"0.5\" y=\"0.5\" width=\"" + number(kWidth - 1, 0) + "\" height=\"" +
         number(bottom + kBelow - 1, 0) + "\" rx=\"8\" class=\"page\"/>\n";
  svg += text_at(20, 34, "title", title);
  svg += text_at(20, 56, "small", chart.subject);
  svg += draw_axis(axis, bottom);
  double y = kTop;
  for (const Row& row : chart.rows) {
    svg += draw_row(row, axis, y);
    y += kRowHeight;
  }
  svg += text_at(20, bottom + 46, "small", chart.method);
  return svg + "</svg>\n";
}

}  // namespace

Result<std::string> cold_picture(const Json& report) {
  const Result<Chart> chart = read_chart(report);
  if (!chart) return chart.status();
  return draw(*chart);
}

Result<std::string> cold_picture_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {Code::not_found, path + ": does not exist"};
  if (!std::filesystem::is_regular_file(path, error)) return {Code::io, path + ": is not a regular file"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return {Code::io, path + ": cannot be read"};
  const Json report = Json::parse(file, nullptr, false);
  if (report.is_discarded()) return {Code::malformed, path + ": is not JSON"};
  Result<std::string> picture = cold_picture(report);
  if (!picture) return picture.status().within(path);
  return picture;
}

Status check_picture_path(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  if (!std::filesystem::is_regular_file(path, error)) {
    return {Code::invalid_argument, path + ": exists and is not a regular file"};
  }
  if (std::filesystem::file_size(path, error) == 0) return {};
  std::string begin(std::string(kBegin).size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == kBegin) return {};
  return {Code::invalid_argument, path + ": exists and is not a picture of 'bench cold'; it stays as it is"};
}

Status write_cold_picture(const std::string& path, const std::string& picture) {
  const Status allowed = check_picture_path(path);
  if (!allowed) return allowed;
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()});
}

}  // namespace clbake::tool
