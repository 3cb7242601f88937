#include <clbake/builder/times.hpp>

#include <clbake/kernels/params.hpp>

#include "process/text_file.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace clbake::builder::profile {
using namespace process;
namespace {

const std::string kFirstLine = "# clbake times 1";
const std::string kColumns = "m,n,k,batch", kSpread = "spread";
constexpr std::size_t kSizes = 4;  // columns before the spread, which a file may lack
constexpr std::uintmax_t kMostTimesBytes = std::uintmax_t{16} << 20;
constexpr std::uint32_t kRuns = 3;  // a measurement of one call cannot win

// Four digits, without an exponent.
std::string number(double us) {
  char text[32];
  const int digits = us >= 1000 ? 0 : us >= 100 ? 1 : us >= 10 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", digits, us);
  return text;
}

std::uint32_t whole_number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

// -1: not a finite number of 0 or more.
double number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && value >= 0 && std::isfinite(value) ? value : -1;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

// Files of one device, line by line, added to a tuning. Members that take a line return what is wrong with it, if
// anything.
class Reader {
 public:
  explicit Reader(Tuning& tuning) : tuning_(tuning) {}

  Status read(const std::string& text) {
    file_ = {};
    has_kind_ = has_columns_ = false;
    column_.clear();
    std::istringstream lines(text);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();  // as Windows' programs end lines
      const std::string wrong = number > 1           ? take(line)
                                : line != kFirstLine ? "not '" + kFirstLine + "'"
                                                     : std::string();
      if (!wrong.empty()) return {Code::malformed, "line " + std::to_string(number) + ": " + wrong};
    }
    return has_columns_ ? Status() : Status(Code::malformed, "no line of columns");
  }

  // The header of the last file.
  const TimesFile& file() const { return file_; }

 private:
  std::string take(const std::string& line) {
    if (line.empty()) return {};
    if (line[0] == '#') return note(line);
    return has_columns_ ? row(cells_of(line)) : columns(cells_of(line));
  }

  std::string note(const std::string& line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || colon < 2) return {};
    const std::string key = line.substr(2, colon - 2), value = line.substr(colon + 2);
    for (const auto& [name, field] : cache::kTargetTexts) {
      if (key == name) file_.target.*field = value;
    }
    if (key == "address_bits") file_.target.address_bits = whole_number(value);
    if (key == "compute_units") file_.compute_units = whole_number(value);
    if (key == "date") tuning_.date = std::max(tuning_.date, value);
    if (key == "tool") tuning_.tool = value;
    if (key != "kind") return {};
    const std::size_t space = value.find(' ');
    has_kind_ = space != std::string::npos && parse_precision(value.substr(0, space), file_.kind) &&
                parse_transposes(value.substr(space + 1), file_.kind);
    return has_kind_ ? std::string() : "no kind: '" + value + "'";
  }

  std::string columns(const std::vector<std::string>& cells) {
    if (!has_kind_) return "columns before '# kind: PRECISION TRANSPOSES'";
    if (file_.compute_units == 0) return "columns before '# compute_units: N'";
    std::string sizes;
    for (std::size_t i = 0; i < kSizes && i < cells.size(); ++i) sizes += (i > 0 ? "," : "") + cells[i];
    if (sizes != kColumns) return "the first columns are not " + kColumns;
    first_ = kSizes + (cells.size() > kSizes && cells[kSizes] == kSpread ? 1 : 0);
    for (std::size_t i = first_; i < cells.size(); ++i) {
      const auto params = kernels::parse(cells[i]);
      const auto* known = std::get_if<kernels::Params>(&params);
      if (!known || !(known->kind() == file_.kind)) return "no variant of this kind: '" + cells[i] + "'";
      const auto [at, is_new] = variants_.emplace(cells[i], static_cast<std::uint32_t>(tuning_.variants.size()));
      if (is_new) tuning_.variants.push_back(cells[i]);
      column_.push_back(at->second);
    }
    has_columns_ = true;
    return {};
  }

  std::string row(const std::vector<std::string>& cells) {
    const std::size_t wanted = first_ + column_.size();
    if (cells.size() != wanted) return std::to_string(cells.size()) + " cells, not " + std::to_string(wanted);
    const Result<Shape> shape =
        parse_shape(kind_name(file_.kind) + " " + cells[0] + "x" + cells[1] + "x" + cells[2] + " batch " + cells[3]);
    if (!shape) return shape.status().message();
    const auto index = static_cast<std::uint32_t>(tuning_.shapes.size());
    if (!shapes_.insert(name(*shape)).second) return {};  // the same problem again
    tuning_.shapes.push_back(*shape);
    const double spread = first_ > kSizes ? number_of(cells[kSizes]) : 0;
    if (spread < 0) return "no spread: '" + cells[kSizes] + "'";
    for (std::size_t i = 0; i < column_.size(); ++i) {
      const std::string& cell = cells[first_ + i];
      if (cell.empty()) continue;
      const double us = number_of(cell);
      if (us <= 0) return "no time: '" + cell + "'";
      tuning_.measurements.push_back({column_[i], index, us, spread, kRuns, true});
    }
    return {};
  }

  Tuning& tuning_;
  TimesFile file_;
  bool has_kind_ = false;
  bool has_columns_ = false;
  std::size_t first_ = 0;                          // cell of a variant
  std::vector<std::uint32_t> column_;              // index of the variant of each
  std::map<std::string, std::uint32_t> variants_;  // of all files
  std::set<std::string> shapes_;
};

}  // namespace

std::string times_header(const TimesFile& file) {
  std::string text = kFirstLine + '\n';
  const auto note = [&](const std::string& key, const std::string& value) { text += "# " + key + ": " + value + '\n'; };
  for (const auto& [name, field] : cache::kTargetTexts) note(name, file.target.*field);
  note("address_bits", std::to_string(file.target.address_bits));
  note("compute_units", std::to_string(file.compute_units));
  for (const auto& [key, value] : file.notes) note(key, value);
  note("kind", kind_name(file.kind));
  text += kColumns + ',' + kSpread;
  for (const std::string& variant : file.variants) text += ',' + variant;
  return text + '\n';
}

std::string times_row(const Shape& shape, double spread, const std::vector<double>& us) {
  std::string text = std::to_string(shape.m) + ',' + std::to_string(shape.n) + ',' + std::to_string(shape.k) + ',' +
                     std::to_string(shape.batch) + ',' + number(spread);
  for (const double time : us) text += ',' + (time > 0 ? number(time) : std::string());
  return text + '\n';
}

namespace {

// The same device, or another of its architecture: an H200 is an H100 with more and faster memory.
bool is_alike(const Target& a, const Target& b) {
  if (a == b) return true;
  return !a.architecture.empty() && std::tie(a.platform_name, a.vendor, a.architecture, a.driver_version) ==
                                        std::tie(b.platform_name, b.vendor, b.architecture, b.driver_version);
}

}  // namespace

Result<Tuning> read_times(const std::vector<std::string>& paths) {
  Tuning tuning;
  Reader reader(tuning);
  for (const std::string& path : paths) {
    const Result<std::string> text = read_input(path, kMostTimesBytes);
    if (!text) return text.status();
    const Status read = reader.read(*text);
    if (!read) return read.within(input_name(path));
    if (&path == &paths.front()) {
      tuning.target = reader.file().target;
      tuning.compute_units = reader.file().compute_units;
    }
    if (is_alike(reader.file().target, tuning.target) && reader.file().compute_units == tuning.compute_units) continue;
    return {Code::invalid_argument,
            input_name(path) + ": timed on another device or driver than " + input_name(paths.front())};
  }
  tuning.complete = true;
  tuning.tried = static_cast<std::uint32_t>(tuning.variants.size());
  return tuning;
}

}  // namespace clbake::builder::profile
