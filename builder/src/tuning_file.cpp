#include <clbake/builder/tuning_file.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/guard.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbake::builder {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Six digits: more than any clock gives.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

template <typename T, typename ToJson>
Json list(const std::vector<T>& items, const ToJson& to_json) {
  Json rows = Json::array();
  for (const T& item : items) rows.push_back(to_json(item));
  return rows;
}

Json winner_json(const Tuning& tuning, const Winner& winner) {
  const Measurement& m = winner.figures;
  const Shape& shape = tuning.shapes[m.shape];
  return {{"class", winner.shape_class},
          {"shape", name(shape)},
          {"variant", tuning.variants[m.variant]},
          {"median_us", rounded(m.median_us)},
          {"spread", rounded(m.spread)},
          {"gflops", rounded(gflops(shape, rounded(m.median_us)))},
          {"runs", m.runs},
          {"final", m.final}};
}

void add_range(Json& json, const char* name, std::uint32_t min, std::uint32_t max) {
  if (min == 0 && max == UINT32_MAX) return;
  json[name] = Json::array({Json(min), max == UINT32_MAX ? Json() : Json(max)});
}

Json rule_json(const Tuning& tuning, const TunedRule& rule) {
  Json json{{"kind", kind_name(rule.precision, rule.trans_a, rule.trans_b)}};
  add_range(json, "m", rule.m_min, rule.m_max);
  add_range(json, "n", rule.n_min, rule.n_max);
  add_range(json, "k", rule.k_min, rule.k_max);
  add_range(json, "batch", rule.batch_min, rule.batch_max);
  json["variant"] = tuning.variants[rule.variant];
  return json;
}

Json tuning_json(const Tuning& t) {
  const auto same = [](const auto& value) { return Json(value); };
  return {{"format", "clbake profile"},
          {"version", 1},
          {"target",
           {{"platform_name", t.target.platform_name},
            {"platform_version", t.target.platform_version},
            {"vendor", t.target.vendor},
            {"device_name", t.target.device_name},
            {"device_version", t.target.device_version},
            {"driver_version", t.target.driver_version},
            {"architecture", t.target.architecture},
            {"address_bits", t.target.address_bits}}},
          {"compute_units", t.compute_units},
          {"tool", t.tool},
          {"command", t.command},
          {"date", t.date},
          {"strategy", t.strategy},
          {"seed", t.seed},
          {"shard", t.shard},
          {"shards", t.shards},
          {"budget_s", rounded(t.budget_s)},
          {"elapsed_s", rounded(t.elapsed_s)},
          {"complete", t.complete},
          {"tried", t.tried},
          {"winners", list(t.winners, [&](const Winner& winner) { return winner_json(t, winner); })},
          {"rules", list(t.rules, [&](const TunedRule& rule) { return rule_json(t, rule); })},
          {"variants", list(t.variants, same)},
          {"shapes", list(t.shapes, [](const Shape& shape) { return Json(name(shape)); })},
          {"measurements",
           list(t.measurements,
                [](const Measurement& m) {
                  return Json::array({m.variant, m.shape, rounded(m.median_us), rounded(m.spread), m.runs, m.final});
                })},
          {"failures", list(t.failures,
                            [](const Failure& f) {
                              return Json{{"variant", f.variant}, {"cause", f.cause}};
                            })},
          {"curve", list(t.curve, [](const Milestone& m) {
             return Json::array({rounded(m.seconds), m.tried, m.variant, m.shape, rounded(m.gflops)});
           })}};
}

// One line for each field, and for each element of a list.
std::string lines(const Json& json) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : json.items()) {
    text += separator + ("  " + dump(key)) + ": ";
    separator = ",\n";
    if (!value.is_array() || value.empty()) {
      text += dump(value);
      continue;
    }
    const char* before = "[\n    ";
    for (const Json& element : value) {
      text += before + dump(element);
      before = ",\n    ";
    }
    text += "\n  ]";
  }
  return text + "\n}\n";
}

Result<std::string> text_of_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return {Code::not_found, path + ": No such file or directory"};
  }
  if (error) return {Code::io, path + ": " + error.message()};
  if (!std::filesystem::is_regular_file(status)) return {Code::io, path + ": not a regular file"};
  if (std::filesystem::file_size(path, error) > kMaxBytes || error) {
    return {Code::malformed, path + ": no clbake profile: it has more than 64 MiB"};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return {Code::io, path + ": " + std::strerror(errno)};
  return text;
}

template <typename T, typename Unwanted>
void remove_if(std::vector<T>& list, const Unwanted& unwanted) {
  list.erase(std::remove_if(list.begin(), list.end(), unwanted), list.end());
}

// Removes the others, and tells where each one went.
template <typename T>
std::vector<std::uint32_t> keep(std::vector<T>& list, const std::vector<bool>& needed) {
  std::vector<std::uint32_t> places(list.size());
  std::vector<T> kept;
  for (std::size_t i = 0; i < list.size(); ++i) {
    places[i] = static_cast<std::uint32_t>(kept.size());
    if (needed[i]) kept.push_back(std::move(list[i]));
  }
  list = std::move(kept);
  return places;
}

}  // namespace

std::string kind_name(Precision precision, bool trans_a, bool trans_b) {
  return std::string(clbake::name(precision)) + ' ' + (trans_a ? 't' : 'n') + (trans_b ? 't' : 'n');
}

double gflops(const Shape& shape, double median_us) { return operations(shape) / median_us / 1000; }

std::string tuning_text(const Tuning& tuning) { return lines(tuning_json(tuning)); }

Result<Tuning> read_tuning(const std::string& path) {
  return guarded([&]() -> Result<Tuning> {
    const Result<std::string> text = text_of_file(path);
    if (!text) return text.status();
    return parse_tuning(*text, path);
  });
}

Status write_tuning(const std::string& path, const Tuning& tuning) {
  return guarded([&]() -> Status {
    const std::string text = tuning_text(tuning);
    if (text.size() > kMaxBytes) return {Code::malformed, path + ": a profile may not have more than 64 MiB"};
    const Result<Tuning> readable = parse_tuning(text, path);
    if (!readable) return readable.status();
    return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  });
}

Tuning brief(const Tuning& tuning) {
  Tuning less = tuning;
  less.failures.clear();
  less.curve.clear();
  // What was not measured again at the end is compared with nothing.
  const auto is_final = [](const Measurement& m) { return m.final; };
  if (std::any_of(less.measurements.begin(), less.measurements.end(), is_final)) {
    remove_if(less.measurements, [&](const Measurement& m) { return !m.final; });
    remove_if(less.winners, [&](const Winner& w) { return !w.figures.final; });
  }
  std::vector<bool> needed(tuning.variants.size());
  for (const TunedRule& rule : less.rules) needed[rule.variant] = true;
  for (const Winner& winner : less.winners) needed[winner.figures.variant] = true;
  remove_if(less.measurements, [&](const Measurement& m) { return !needed[m.variant]; });
  std::vector<bool> timed(tuning.shapes.size());
  for (const Measurement& m : less.measurements) timed[m.shape] = true;

  const std::vector<std::uint32_t> variants = keep(less.variants, needed);
  const std::vector<std::uint32_t> shapes = keep(less.shapes, timed);
  const auto move = [&](Measurement& m) {
    m.variant = variants[m.variant];
    m.shape = shapes[m.shape];
  };
  for (Measurement& m : less.measurements) move(m);
  for (Winner& winner : less.winners) move(winner.figures);
  for (TunedRule& rule : less.rules) rule.variant = variants[rule.variant];
  return less;
}

}  // namespace clbake::builder
