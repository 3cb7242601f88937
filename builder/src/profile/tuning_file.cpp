#include <clbake/builder/tuning_file.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/kernels/constraints.hpp>

#include "process/target_json.hpp"
#include "process/text_file.hpp"
#include "profile/cost_fit.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

namespace clbake::builder::profile {
using namespace process;
namespace {

constexpr int kProfileVersion = 5;
constexpr double kMinUs = 1e-6;  // a picosecond
constexpr double kMaxUs = 1e12;  // eleven days
constexpr std::uint32_t kMaxResident = 64;
constexpr std::uintmax_t kMostProfileBytes = std::uintmax_t{64} << 20;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Six digits: more than timing resolves. Four for what is fitted to times, with errors of some percent.
double rounded(double value, int digits = 6) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}
constexpr int kModelDigits = 4;

// The fields that are texts, numbers and truth values: names and pointers into `t`, in the order of the file.
template <typename T>
auto fields_of(T& t) {
  using std::pair;
  return std::tuple(pair("compute_units", &t.compute_units), pair("tool", &t.tool), pair("command", &t.command),
                    pair("date", &t.date), pair("strategy", &t.strategy), pair("seed", &t.seed),
                    pair("shard", &t.shard), pair("shards", &t.shards), pair("budget_s", &t.budget_s),
                    pair("elapsed_s", &t.elapsed_s), pair("complete", &t.complete), pair("tried", &t.tried),
                    pair("noise", &t.noise));
}

template <typename Fields>
void add_fields(Json& json, const Fields& fields) {
  const auto add = [&](const char* key, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const double&>) {
      json[key] = rounded(value);
    } else {
      json[key] = value;
    }
  };
  std::apply([&](const auto&... field) { (add(field.first, *field.second), ...); }, fields);
}

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
  if (m.regime != 0) row.push_back(m.regime);
  return row;
}

Json tuning_json(const Tuning& t) {
  Json json = {{"format", "clbake profile"}, {"version", kProfileVersion}};
  json["target"] = target_json(t.target);
  add_fields(json, fields_of(t));
  json["models"] = list(t.models, model_json);
  json["prior"] = list(t.prior, model_json);
  json["exceptions"] = list(t.exceptions, rule_json);
  json["variants"] = t.variants;
  json["shapes"] = list(t.shapes, weighted_name);
  json["measurements"] = list(t.measurements, measurement_json);
  json["failures"] = list(t.failures, [](const Failure& f) {
    return Json{{"variant", f.variant}, {"cause", f.cause}};
  });
  return json;
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

// Limits that no device exceeds: a variant that is refused with these limits runs nowhere.
constexpr kernels::DeviceLimits kNoLimits = [] {
  kernels::DeviceLimits limits;
  limits.fp64 = limits.images = limits.warpgroups = true;
  limits.max_work_group_size = limits.local_memory_bytes = limits.private_memory_bytes = UINT64_MAX;
  for (std::uint64_t& size : limits.max_work_item_sizes) size = UINT64_MAX;
  limits.ptx = UINT32_MAX;
  return limits;
}();

class ProfileParser {
 public:
  explicit ProfileParser(Tuning& tuning) : t_(tuning) {}
  const std::string& failure() const { return in_.failure(); }

  bool parse(const Json& json);

 private:
  // An object of `fields`, then `more`.
  template <typename Fields, typename... More>
  bool object(const JsonValue& at, const Fields& fields, const More&... more) {
    return std::apply(
        [&](const auto&... field) { return in_.object(at, in_.field(field.first, *field.second)..., more...); },
        fields);
  }

  // A field that is a list.
  template <typename Read>
  auto list(const char* key, Read read_element) {
    return json_field(key, [this, read_element](const JsonValue& at) { return in_.list(at, read_element); });
  }

  // A field that is an index into a list of `count`.
  auto index(const char* key, std::size_t count, std::uint32_t& value) {
    return json_field(key, [this, count, &value](const JsonValue& at) {
      if (!in_.read(at, value)) return false;
      return value < count || in_.fail(at, std::to_string(value) + " is outside the list of " + std::to_string(count));
    });
  }
  auto variant_index(std::uint32_t& value) { return index("variant", t_.variants.size(), value); }
  auto shape_index(std::uint32_t& value) { return index("shape", t_.shapes.size(), value); }

  // The name of a variant that some device may run.
  bool params(const JsonValue& at, std::string& text, kernels::Params& params) {
    if (!in_.read(at, text)) return false;
    const std::variant<kernels::Params, std::string> parsed = kernels::parse(text);
    if (const auto* cause = std::get_if<std::string>(&parsed)) return in_.fail(at, *cause);
    params = std::get<kernels::Params>(parsed);
    if (kernels::admits(kNoLimits, params)) return true;
    const kernels::Violation broken = kernels::check(params, kNoLimits).front();
    return in_.fail(at, text + ": " + std::string(broken.constraint) + ": " + broken.reason);
  }

  bool variant(const JsonValue& at) {
    std::string text;
    kernels::Params p;
    if (!params(at, text, p)) return false;
    const auto index = static_cast<std::uint32_t>(t_.variants.size());
    kinds_.push_back(p.kind());
    t_.variants.push_back(text);
    return variants_.emplace(text, index).second || in_.fail(at, text + " is there twice");
  }

  bool shape(const JsonValue& at) {
    std::string text;
    if (!in_.read(at, text)) return false;
    const Result<Shape> shape = parse_shape(text);
    if (!shape) return in_.fail(at, shape.status().message());
    const std::string plain = name(*shape);
    if (text.substr(0, text.find(" weight ")) != plain) return in_.fail(at, "'" + text + "' should be '" + plain + "'");
    const auto index = static_cast<std::uint32_t>(t_.shapes.size());
    t_.shapes.push_back(*shape);
    return shapes_.emplace(plain, index).second || in_.fail(at, plain + " is there twice");
  }

  bool measurement(const JsonValue& at) {
    Measurement m;
    if (!in_.row(at, variant_index(m.variant), shape_index(m.shape), in_.field("median_us", m.median_us),
                 in_.field("spread", m.spread), in_.field("runs", m.runs), in_.field("final", m.final))) {
      return false;
    }
    if (m.median_us < kMinUs || m.median_us > kMaxUs) return in_.fail(at, "median_us", "is outside 0.000001 to 1e12");
    if (m.runs < 1) return in_.fail(at, "runs", "is 0");
    const std::string& variant = t_.variants[m.variant];
    const Shape& shape = t_.shapes[m.shape];
    if (!(kinds_[m.variant] == shape.kind())) return in_.fail(at, variant + " does not compute " + name(shape));
    t_.measurements.push_back(m);
    return measured_.emplace(m.variant, m.shape).second ||
           in_.fail(at, variant + " on " + name(shape) + " is there twice");
  }

  // [min, max]; a max of null has no end.
  auto range(const char* key, std::uint32_t& min, std::uint32_t& max) {
    return json_field(key, [this, &min, &max](const JsonValue& at) {
      const auto read_max = [&](const JsonValue& end) { return end.json.is_null() || in_.read(end, max); };
      return in_.row(at, in_.field("min", min), json_field("max", read_max)) &&
             (min <= max || in_.fail(at, "ends before it begins"));
    });
  }

  using Modelled = std::map<std::uint32_t, unsigned>;  // a bit for each regime, by variant

  bool rule(const JsonValue& at) {
    cache::Rule r;
    const auto variant = variant_index(r.variant);
    const auto m = range("m", r.m_min, r.m_max);
    const auto n = range("n", r.n_min, r.n_max);
    const auto k = range("k", r.k_min, r.k_max);
    const bool batched = at.json.is_array() && at.json.size() == 5;
    const bool read = batched ? in_.row(at, variant, m, n, k, range("batch", r.batch_min, r.batch_max))
                              : in_.row(at, variant, m, n, k);
    if (!read) return false;
    r.kind() = kinds_[r.variant];
    t_.exceptions.push_back(r);
    return room_for(at, r.kind(), t_.exceptions, kMaxExceptionsOfKind);
  }

  template <typename T>
  bool room_for(const JsonValue& at, const GemmKind& kind, const std::vector<T>& list, std::size_t most) {
    const auto count = std::count_if(list.begin(), list.end(), [&](const T& item) { return item.kind() == kind; });
    return static_cast<std::size_t>(count) <= most ||
           in_.fail(at, "is one too many of " + kind_name(kind) + ": " + std::to_string(most) + " are allowed");
  }

  bool model(const JsonValue& at, std::vector<cache::CostModel>& models, Modelled& seen) {
    std::uint32_t variant = 0, resident = 0, regime = 0;
    std::array<double, std::size(cache::kCostModelNumbers)> numbers{};
    static_assert(std::size(cache::kCostModelNumbers) == 11, "each number is read below");
    const auto number = [&](std::size_t i) { return in_.field(cache::kCostModelNumbers[i].name, numbers[i]); };
    const auto row = [&](const auto&... more) {
      return in_.row(at, variant_index(variant), in_.field("resident", resident), number(0), number(1), number(2),
                     number(3), number(4), number(5), number(6), number(7), number(8), number(9), number(10), more...);
    };
    const bool limited = at.json.is_array() && at.json.size() == numbers.size() + 3;
    if (limited ? !row(in_.field("regime", regime)) : !row()) return false;
    if (limited && regime != 1 && regime != 2) return in_.fail(at, "regime", "is neither 1 nor 2");
    if (resident < 1 || resident > kMaxResident) {
      return in_.fail(at, "resident", "is outside 1 to " + std::to_string(kMaxResident));
    }
    cache::CostModel m = geometry_of(std::get<kernels::Params>(kernels::parse(t_.variants[variant])), regime);
    m.variant = variant;
    m.resident = resident;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] > kMaxUs) return in_.fail(at, cache::kCostModelNumbers[i].name, "is over 1e12");
      m.*cache::kCostModelNumbers[i].value = static_cast<float>(numbers[i]);
    }
    models.push_back(m);
    unsigned& regimes = seen[variant];
    const bool twice = (regimes & (1U | 1U << regime)) != 0 || (regime == 0 && regimes != 0);
    regimes |= 1U << regime;
    if (twice) return in_.fail(at, t_.variants[variant] + " is there twice");
    return room_for(at, m.kind(), models, kMaxModelsOfKind);
  }

  bool tuning_failure(const JsonValue& at) {
    Failure failure;
    kernels::Params p;
    const auto read_variant = [&](const JsonValue& name) { return params(name, failure.variant, p); };
    const bool read = in_.object(at, json_field("variant", read_variant), in_.field("cause", failure.cause));
    t_.failures.push_back(failure);
    return read;
  }

  JsonReader in_;
  Tuning& t_;
  std::vector<GemmKind> kinds_;                    // of the variants
  std::map<std::string, std::uint32_t> variants_;  // by name
  std::map<std::string, std::uint32_t> shapes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> measured_;  // variant and shape
  Modelled modelled_, in_prior_;
};

// The lists that others refer to come first.
bool ProfileParser::parse(const Json& json) {
  const JsonValue root{json};
  const auto known = json_field("", [](const JsonValue&) { return true; });  // check_format has seen it
  const auto format = json_field("format", known.read);
  const auto version = json_field("version", known.read);
  const auto read_target = [&](const JsonValue& at) { return process::read_target(in_, at, t_.target); };
  return object(root, fields_of(t_), format, version, json_field("target", read_target),
                list("variants", [&](const auto& at) { return variant(at); }),
                list("shapes", [&](const auto& at) { return shape(at); }),
                list("measurements", [&](const auto& at) { return measurement(at); }),
                list("models", [&](const auto& at) { return model(at, t_.models, modelled_); }),
                list("prior", [&](const auto& at) { return model(at, t_.prior, in_prior_); }),
                list("exceptions", [&](const auto& at) { return rule(at); }),
                list("failures", [&](const auto& at) { return tuning_failure(at); })) &&
         ((t_.shard >= 1 && t_.shard <= t_.shards) ||
          in_.fail(root, "shard", "is outside 1 to " + std::to_string(t_.shards))) &&
         (t_.compute_units > 0 || t_.models.empty() ||
          in_.fail(root, "compute_units", "is 0, and there are cost models"));
}

Status check_format(const Json& json) {
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (!json.is_object() || format == json.end() || *format != "clbake profile") {
    return {Code::malformed, "no clbake profile: there is no \"format\": \"clbake profile\" in it"};
  }
  const auto version = json.find("version");
  if (version == json.end()) return {Code::malformed, "version: is missing"};
  if (*version == kProfileVersion) return {};
  if (!version->is_number_unsigned()) return {Code::malformed, "version: is not a whole number, 0 or more"};
  return {Code::unsupported_version, "version: " + version->dump() +
                                         " of the profile's format; this clbake reads version " +
                                         std::to_string(kProfileVersion) + ": tune again"};
}

}  // namespace

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

Result<Tuning> parse_tuning(const std::string& text, const std::string& name) {
  return exceptions_to_status([&]() -> Result<Tuning> {
    const Result<Json> json = parse_json(text);
    if (!json) return json.status().within(name);
    const Status format = check_format(*json);
    if (!format) return format.within(name);
    Tuning tuning;
    ProfileParser parser(tuning);
    if (!parser.parse(*json)) return {Code::malformed, name + ": " + parser.failure()};
    return tuning;
  });
}

}  // namespace clbake::builder::profile
