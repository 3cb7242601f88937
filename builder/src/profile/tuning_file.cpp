#include <clbake/builder/tuning_file.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "process/text_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace clbake::builder::profile {
using namespace process;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMostProfileBytes = std::uintmax_t{64} << 20;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Six digits: more than timing resolves. Four for what is fitted to times, with errors of some percent.
double rounded(double value, int digits = 6) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}
constexpr int kModelDigits = 4;

template <typename T, typename ToJson>
Json list(const std::vector<T>& items, const ToJson& to_json) {
  Json rows = Json::array();
  for (const T& item : items) rows.push_back(to_json(item));
  return rows;
}

Json measurement_json(const Measurement& m) {
  return Json::array({m.variant, m.shape, rounded(m.median_us), rounded(m.spread), m.runs, m.final});
}

Json range_json(std::uint32_t min, std::uint32_t max) {
  return Json::array({Json(min), max == UINT32_MAX ? Json() : Json(max)});
}

Json rule_json(const cache::Rule& rule) {
  Json row = Json::array({rule.variant, range_json(rule.m_min, rule.m_max), range_json(rule.n_min, rule.n_max),
                          range_json(rule.k_min, rule.k_max)});
  if (rule.batch_min > 0 || rule.batch_max < UINT32_MAX) row.push_back(range_json(rule.batch_min, rule.batch_max));
  return row;
}

// The variant's name has the geometry.
Json model_json(const cache::CostModel& m) {
  Json row = Json::array({m.variant, m.resident});
  for (const auto& [key, number] : cache::kCostModelNumbers) {
    row.push_back(rounded(static_cast<double>(m.*number), kModelDigits));
  }
  return row;
}

Json tuning_json(const Tuning& t) {
  const auto same = [](const auto& value) { return Json(value); };
  return {{"format", "clbake profile"},
          {"version", 4},
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
          {"noise", rounded(t.noise)},
          {"winners", list(t.winners, [](const Winner& winner) { return measurement_json(winner.figures); })},
          {"model_columns", model_columns()},
          {"models", list(t.models, model_json)},
          {"prior", list(t.prior, model_json)},
          {"exceptions", list(t.exceptions, rule_json)},
          {"variants", list(t.variants, same)},
          {"shapes", list(t.shapes, [](const Shape& shape) { return Json(weighted_name(shape)); })},
          {"measurements", list(t.measurements, measurement_json)},
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

// The one with the most operations of each class, in each precision; and one of each kind that has neither a model nor
// an exception, as its default variants may have won everything.
std::vector<Winner> brief_winners(const Tuning& tuning) {
  std::map<std::pair<Precision, std::string>, const Winner*> largest;
  for (const Winner& winner : tuning.winners) {
    const Shape& shape = tuning.shapes[winner.figures.shape];
    const Winner*& so_far = largest[{shape.precision, winner.shape_class}];
    if (!so_far || operations(shape) > operations(tuning.shapes[so_far->figures.shape])) so_far = &winner;
  }
  std::vector<Winner> list;
  std::set<std::string> kinds;
  for (const auto& [group, winner] : largest) {
    list.push_back(*winner);
    kinds.insert(kind_name(tuning.shapes[winner->figures.shape]));
  }
  for (const cache::CostModel& model : tuning.models) kinds.insert(kind_name(model.kind()));
  for (const cache::Rule& rule : tuning.exceptions) kinds.insert(kind_name(rule.kind()));
  for (const Winner& winner : tuning.winners) {
    if (kinds.insert(kind_name(tuning.shapes[winner.figures.shape])).second) list.push_back(winner);
  }
  return list;
}

// Removes what is not needed, and returns the new index of each element.
template <typename T>
std::vector<std::uint32_t> keep(std::vector<T>& list, const std::vector<bool>& needed) {
  std::vector<std::uint32_t> new_index(list.size());
  std::vector<T> kept;
  for (std::size_t i = 0; i < list.size(); ++i) {
    new_index[i] = static_cast<std::uint32_t>(kept.size());
    if (needed[i]) kept.push_back(std::move(list[i]));
  }
  list = std::move(kept);
  return new_index;
}

}  // namespace

std::string model_columns() {
  std::string names = "variant resident";
  for (const auto& number : cache::kCostModelNumbers) names.append(" ").append(number.name);
  return names;
}

std::string tuning_text(const Tuning& tuning) { return lines(tuning_json(tuning)); }

Result<Tuning> read_tuning(const std::string& path) {
  return exceptions_to_status([&]() -> Result<Tuning> {
    const Result<std::string> text = read_input(path, kMostProfileBytes);
    if (!text) return text.status();
    return parse_tuning(*text, input_name(path));
  });
}

Status write_tuning(const std::string& path, const Tuning& tuning) {
  return exceptions_to_status([&]() -> Status {
    const std::string text = tuning_text(tuning);
    if (text.size() > kMostProfileBytes) return {Code::malformed, path + ": a profile may not have more than 64 MiB"};
    const Result<Tuning> readable = parse_tuning(text, path);
    if (!readable) return readable.status();
    return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  });
}

Tuning brief(const Tuning& tuning) {
  Tuning less = tuning;
  less.failures.clear();
  less.curve.clear();
  less.measurements.clear();
  less.prior.clear();
  less.winners = brief_winners(tuning);
  std::vector<bool> needed(tuning.variants.size());
  for (const cache::Rule& rule : less.exceptions) needed[rule.variant] = true;
  for (const cache::CostModel& model : less.models) needed[model.variant] = true;
  std::vector<bool> won(tuning.shapes.size());
  for (const Winner& winner : less.winners) {
    needed[winner.figures.variant] = true;
    won[winner.figures.shape] = true;
  }
  const std::vector<std::uint32_t> variants = keep(less.variants, needed);
  const std::vector<std::uint32_t> shapes = keep(less.shapes, won);
  for (Winner& winner : less.winners) {
    winner.figures.variant = variants[winner.figures.variant];
    winner.figures.shape = shapes[winner.figures.shape];
  }
  for (cache::Rule& rule : less.exceptions) rule.variant = variants[rule.variant];
  for (cache::CostModel& model : less.models) model.variant = variants[model.variant];
  return less;
}

bool is_brief(const Tuning& tuning) { return tuning.measurements.empty() && !tuning.winners.empty(); }

}  // namespace clbake::builder::profile
