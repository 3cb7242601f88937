// PROFILE.json to Tuning. Whatever cannot be meant is refused with the path of the field and the cause.
#include <clbake/builder/tuning_file.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/kernels/constraints.hpp>

#include "process/json_reader.hpp"
#include "profile/cost_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace clbake::builder::profile {
using namespace process;
namespace {

constexpr double kMinUs = 1e-6;  // a picosecond
constexpr double kMaxUs = 1e12;  // eleven days
constexpr std::uint32_t kMaxResident = 64;

// Limits that no device exceeds: a variant that is refused with these limits runs nowhere.
constexpr kernels::DeviceLimits kNoLimits = {
    true, UINT64_MAX, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, UINT64_MAX, true, UINT32_MAX, true, UINT64_MAX};

class ProfileParser {
 public:
  explicit ProfileParser(Tuning& tuning) : t_(tuning) {}
  const std::string& failure() const { return in_.failure(); }

  bool parse(const Json& json);

 private:
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

  bool target(const JsonValue& at) {
    Target& t = t_.target;
    return in_.object(at, in_.field("platform_name", t.platform_name),
                      in_.field("platform_version", t.platform_version), in_.field("vendor", t.vendor),
                      in_.field("device_name", t.device_name), in_.field("device_version", t.device_version),
                      in_.field("driver_version", t.driver_version), in_.field("architecture", t.architecture),
                      in_.field("address_bits", t.address_bits));
  }

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

  bool same_kind(const JsonValue& at, std::uint32_t variant, std::uint32_t shape) {
    if (kinds_[variant] == t_.shapes[shape].kind()) return true;
    return in_.fail(at, t_.variants[variant] + " does not compute " + name(t_.shapes[shape]));
  }

  bool plausible(const JsonValue& at, const Measurement& m) {
    if (m.median_us < kMinUs || m.median_us > kMaxUs) return in_.fail(at, "median_us", "is outside 0.000001 to 1e12");
    if (m.runs < 1) return in_.fail(at, "runs", "is 0");
    return same_kind(at, m.variant, m.shape);
  }

  bool figures(const JsonValue& at, Measurement& m) {
    return in_.row(at, variant_index(m.variant), shape_index(m.shape), in_.field("median_us", m.median_us),
                   in_.field("spread", m.spread), in_.field("runs", m.runs), in_.field("final", m.final)) &&
           plausible(at, m);
  }

  bool measurement(const JsonValue& at) {
    Measurement m;
    if (!figures(at, m)) return false;
    t_.measurements.push_back(m);
    return measured_.emplace(m.variant, m.shape).second ||
           in_.fail(at, t_.variants[m.variant] + " on " + name(t_.shapes[m.shape]) + " is there twice");
  }

  bool winner(const JsonValue& at) {
    Winner w;
    if (!figures(at, w.figures)) return false;
    const Shape& shape = t_.shapes[w.figures.shape];
    w.shape_class = shape_class(shape);
    t_.winners.push_back(w);
    return won_.insert(w.figures.shape).second || in_.fail(at, name(shape) + " is there twice");
  }

  // [min, max]; a max of null has no end.
  auto range(const char* key, std::uint32_t& min, std::uint32_t& max) {
    return json_field(key, [this, &min, &max](const JsonValue& at) {
      const auto read_max = [&](const JsonValue& end) { return end.json.is_null() || in_.read(end, max); };
      return in_.row(at, in_.field("min", min), json_field("max", read_max)) &&
             (min <= max || in_.fail(at, "ends before it begins"));
    });
  }

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

  bool model(const JsonValue& at, std::vector<cache::CostModel>& models, std::set<std::uint32_t>& seen) {
    std::uint32_t variant = 0, resident = 0;
    std::array<double, std::size(cache::kCostModelNumbers)> numbers{};
    static_assert(std::size(cache::kCostModelNumbers) == 10, "each number is read below");
    const auto number = [&](std::size_t i) { return in_.field(cache::kCostModelNumbers[i].name, numbers[i]); };
    const bool read = in_.row(at, variant_index(variant), in_.field("resident", resident), number(0), number(1),
                              number(2), number(3), number(4), number(5), number(6), number(7), number(8), number(9));
    if (!read) return false;
    if (resident < 1 || resident > kMaxResident) {
      return in_.fail(at, "resident", "is outside 1 to " + std::to_string(kMaxResident));
    }
    cache::CostModel m = geometry_of(std::get<kernels::Params>(kernels::parse(t_.variants[variant])));
    m.variant = variant;
    m.resident = resident;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] > kMaxUs) return in_.fail(at, cache::kCostModelNumbers[i].name, "is over 1e12");
      m.*cache::kCostModelNumbers[i].value = static_cast<float>(numbers[i]);
    }
    models.push_back(m);
    if (!seen.insert(variant).second) return in_.fail(at, t_.variants[variant] + " is there twice");
    return room_for(at, m.kind(), models, kMaxModelsOfKind);
  }

  // For people.
  bool columns(const JsonValue& at) {
    std::string names;
    return in_.read(at, names) && (names == model_columns() || in_.fail(at, "is not '" + model_columns() + "'"));
  }

  bool tuning_failure(const JsonValue& at) {
    Failure failure;
    kernels::Params p;
    const auto read_variant = [&](const JsonValue& name) { return params(name, failure.variant, p); };
    const bool read = in_.object(at, json_field("variant", read_variant), in_.field("cause", failure.cause));
    t_.failures.push_back(failure);
    return read;
  }

  bool milestone(const JsonValue& at) {
    Milestone m;
    const bool read = in_.row(at, in_.field("seconds", m.seconds), in_.field("tried", m.tried),
                              variant_index(m.variant), shape_index(m.shape), in_.field("gflops", m.gflops)) &&
                      same_kind(at, m.variant, m.shape);
    t_.curve.push_back(m);
    return read;
  }

  JsonReader in_;
  Tuning& t_;
  std::vector<GemmKind> kinds_;                    // of the variants
  std::map<std::string, std::uint32_t> variants_;  // by name
  std::map<std::string, std::uint32_t> shapes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> measured_;  // variant and shape
  std::set<std::uint32_t> won_;                                 // shapes
  std::set<std::uint32_t> modelled_;                            // variants
  std::set<std::uint32_t> in_prior_;
};

// The lists that others refer to come first.
bool ProfileParser::parse(const Json& json) {
  const JsonValue root{json};
  const auto known = json_field("", [](const JsonValue&) { return true; });  // check_format has seen it
  const auto format = json_field("format", known.read);
  const auto version = json_field("version", known.read);
  return in_.object(root, format, version, json_field("target", [&](const auto& at) { return target(at); }),
                    in_.field("compute_units", t_.compute_units), in_.field("tool", t_.tool),
                    in_.field("command", t_.command), in_.field("date", t_.date), in_.field("strategy", t_.strategy),
                    in_.field("seed", t_.seed), in_.field("shard", t_.shard), in_.field("shards", t_.shards),
                    in_.field("budget_s", t_.budget_s), in_.field("elapsed_s", t_.elapsed_s),
                    in_.field("complete", t_.complete), in_.field("tried", t_.tried), in_.field("noise", t_.noise),
                    list("variants", [&](const auto& at) { return variant(at); }),
                    list("shapes", [&](const auto& at) { return shape(at); }),
                    list("measurements", [&](const auto& at) { return measurement(at); }),
                    list("winners", [&](const auto& at) { return winner(at); }),
                    json_field("model_columns", [&](const auto& at) { return columns(at); }),
                    list("models", [&](const auto& at) { return model(at, t_.models, modelled_); }),
                    list("prior", [&](const auto& at) { return model(at, t_.prior, in_prior_); }),
                    list("exceptions", [&](const auto& at) { return rule(at); }),
                    list("failures", [&](const auto& at) { return tuning_failure(at); }),
                    list("curve", [&](const auto& at) { return milestone(at); })) &&
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
  if (*version == 4) return {};
  if (!version->is_number_unsigned()) return {Code::malformed, "version: is not a whole number, 0 or more"};
  return {Code::unsupported_version,
          "version: " + version->dump() + " of the profile's format; this clbake reads version 4: tune again"};
}

}  // namespace

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
