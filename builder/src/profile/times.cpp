#include <clbake/builder/times.hpp>

#include <clbake/kernels/params.hpp>

#include "process/text_file.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <type_traits>

namespace clbake::builder {
namespace {

constexpr const char* kFirstLine = "# clbake times 1";
constexpr const char* kColumns = "m,n,k,batch";
constexpr std::size_t kSizes = 4;  // of them
constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20;
constexpr std::uint32_t kRuns = 3;  // a measurement of one call cannot win

// The target's fields in the order of FORMAT.md.
template <typename Text>
std::vector<std::pair<const char*, Text*>> fields_of(
    std::conditional_t<std::is_const_v<Text>, const Target, Target>& t) {
  return {{"platform_name", &t.platform_name},
          {"platform_version", &t.platform_version},
          {"vendor", &t.vendor},
          {"device_name", &t.device_name},
          {"device_version", &t.device_version},
          {"driver_version", &t.driver_version},
          {"architecture", &t.architecture}};
}

// Four digits, without an exponent.
std::string number(double us) {
  char text[32];
  const int digits = us >= 1000 ? 0 : us >= 100 ? 1 : us >= 10 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", digits, us);
  return text;
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

// Files of one device, line by line, added to a tuning.
class Reader {
 public:
  explicit Reader(Tuning& tuning) : tuning_(tuning) {}

  Status read(const std::string& text) {
    target_ = {};
    units_ = 0;
    has_kind_ = has_columns_ = false;
    column_.clear();
    std::istringstream lines(text);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
      const std::string wrong = number == 1 ? first(line) : take(line);
      if (!wrong.empty()) return {Code::malformed, "line " + std::to_string(number) + ": " + wrong};
    }
    if (!has_columns_) return {Code::malformed, "no line of columns"};
    return {};
  }

  const Target& target() const { return target_; }
  std::uint32_t units() const { return units_; }

 private:
  static std::string first(const std::string& line) {
    return line == kFirstLine ? std::string() : std::string("not '") + kFirstLine + "'";
  }

  std::string take(const std::string& line) {
    if (line.empty()) return {};
    if (line[0] == '#') return note(line);
    return has_columns_ ? row(cells_of(line)) : columns(cells_of(line));
  }

  std::string note(const std::string& line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || colon < 2) return {};
    const std::string key = line.substr(2, colon - 2), value = line.substr(colon + 2);
    for (const auto& [name, field] : fields_of<std::string>(target_)) {
      if (key == name) *field = value;
    }
    if (key == "address_bits")
      target_.address_bits = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "compute_units") units_ = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "date") tuning_.date = std::max(tuning_.date, value);
    if (key == "tool") tuning_.tool = value;
    if (key != "kind") return {};
    std::istringstream words(value);
    std::string precision, transposes;
    words >> precision >> transposes;
    has_kind_ = parse_precision(precision, kind_) && parse_transposes(transposes, kind_);
    return has_kind_ ? std::string() : "no kind: '" + value + "'";
  }

  std::string columns(const std::vector<std::string>& cells) {
    if (!has_kind_) return "columns before '# kind: PRECISION TRANSPOSES'";
    if (units_ == 0) return "columns before '# compute_units: N'";
    std::string sizes;
    for (std::size_t i = 0; i < kSizes && i < cells.size(); ++i) sizes += (i > 0 ? "," : "") + cells[i];
    if (sizes != kColumns) return std::string("the first columns are not ") + kColumns;
    for (std::size_t i = kSizes; i < cells.size(); ++i) {
      const auto params = kernels::parse(cells[i]);
      const auto* known = std::get_if<kernels::Params>(&params);
      if (!known || !(known->kind() == kind_)) return "no variant of this kind: '" + cells[i] + "'";
      const auto [at, is_new] = variants_.emplace(cells[i], static_cast<std::uint32_t>(tuning_.variants.size()));
      if (is_new) tuning_.variants.push_back(cells[i]);
      column_.push_back(at->second);
    }
    has_columns_ = true;
    return {};
  }

  std::string row(const std::vector<std::string>& cells) {
    if (cells.size() != kSizes + column_.size()) {
      return std::to_string(cells.size()) + " cells, not " + std::to_string(kSizes + column_.size());
    }
    const Result<Shape> shape =
        parse_shape(kind_name(kind_) + " " + cells[0] + "x" + cells[1] + "x" + cells[2] + " batch " + cells[3]);
    if (!shape) return shape.status().message();
    const auto index = static_cast<std::uint32_t>(tuning_.shapes.size());
    if (!shapes_.insert(name(*shape)).second) return {};  // the same problem again
    tuning_.shapes.push_back(*shape);
    for (std::size_t i = 0; i < column_.size(); ++i) {
      const std::string& cell = cells[kSizes + i];
      if (cell.empty()) continue;
      char* end = nullptr;
      const double us = std::strtod(cell.c_str(), &end);
      if (*end != 0 || !(us > 0) || std::isinf(us)) return "no time: '" + cell + "'";
      tuning_.measurements.push_back({column_[i], index, us, 0, kRuns, true});
    }
    return {};
  }

  Tuning& tuning_;
  std::map<std::string, std::uint32_t> variants_;
  std::set<std::string> shapes_;
  Target target_;
  std::uint32_t units_ = 0;
  GemmKind kind_;
  bool has_kind_ = false;
  bool has_columns_ = false;
  std::vector<std::uint32_t> column_;  // index of the variant of each
};

}  // namespace

std::string times_header(const TimesFile& file) {
  std::string text = std::string(kFirstLine) + '\n';
  const auto note = [&](const std::string& key, const std::string& value) { text += "# " + key + ": " + value + '\n'; };
  for (const auto& [name, field] : fields_of<const std::string>(file.target)) note(name, *field);
  note("address_bits", std::to_string(file.target.address_bits));
  note("compute_units", std::to_string(file.compute_units));
  for (const auto& [key, value] : file.notes) note(key, value);
  note("kind", kind_name(file.kind));
  text += kColumns;
  for (const std::string& variant : file.variants) text += ',' + variant;
  return text + '\n';
}

std::string times_row(const Shape& shape, const std::vector<double>& us) {
  std::string text = std::to_string(shape.m) + ',' + std::to_string(shape.n) + ',' + std::to_string(shape.k) + ',' +
                     std::to_string(shape.batch);
  for (const double time : us) text += ',' + (time > 0 ? number(time) : std::string());
  return text + '\n';
}

Result<Tuning> read_times(const std::vector<std::string>& paths) {
  Tuning tuning;
  Reader reader(tuning);
  for (const std::string& path : paths) {
    const Result<std::string> text = read_input(path, kMostBytes);
    if (!text) return text.status();
    const Status read = reader.read(*text);
    if (!read) return read.within(input_name(path));
    if (&path == &paths.front()) {
      tuning.target = reader.target();
      tuning.compute_units = reader.units();
    }
    if (reader.target() == tuning.target && reader.units() == tuning.compute_units) continue;
    return {Code::invalid_argument,
            input_name(path) + ": timed on another device or driver than " + input_name(paths.front())};
  }
  tuning.complete = true;
  tuning.tried = static_cast<std::uint32_t>(tuning.variants.size());
  return tuning;
}

}  // namespace clbake::builder
