#include <clbake/builder/jobs.hpp>
#include <clbake/builder/tuning_file.hpp>
#include <clbake/exceptions_to_status.hpp>
#include <clbake/kernels/constraints.hpp>

#include <nlohmann/json.hpp>

#include "profile/json_names.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace clbake::builder {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 8;  // of lists and objects in each other; a profile needs 3

// What no device exceeds: a variant that is refused here can run nowhere.
constexpr kernels::DeviceLimits kNoLimits = {true,       UINT64_MAX, {UINT64_MAX, UINT64_MAX, UINT64_MAX},
                                             UINT64_MAX, true,       UINT32_MAX};

// A value and where it stands: under a key or at an index of the one around it.
struct Place {
  const Json& json;
  const Place* around = nullptr;
  const char* key = nullptr;  // null: `index`
  std::size_t index = 0;

  // "measurements[17].variant"; empty for the whole text.
  std::string path() const {
    if (!around) return {};
    const std::string before = around->path();
    if (!key) return before + "[" + std::to_string(index) + "]";
    return before.empty() ? key : before + "." + key;
  }
};

// Reads fields until one is wrong; its functions then return false and failure() says which and why.
class Reader {
 public:
  const std::string& failure() const { return failure_; }

  bool fail(const Place& place, const std::string& cause) {
    const std::string path = place.path();
    failure_ = path.empty() ? cause : path + ": " + cause;
    return false;
  }

  bool read(const Place& place, std::string& value) {
    if (!place.json.is_string()) return fail(place, "is no text");
    value = place.json.get<std::string>();
    return true;
  }
  bool read(const Place& place, bool& value) {
    if (!place.json.is_boolean()) return fail(place, "is neither true nor false");
    value = place.json.get<bool>();
    return true;
  }
  bool read(const Place& place, std::uint64_t& value) {
    if (!place.json.is_number_unsigned()) return fail(place, "is no whole number from 0 on");
    value = place.json.get<std::uint64_t>();
    return true;
  }
  bool read(const Place& place, std::uint32_t& value) {
    std::uint64_t wide = 0;
    if (!read(place, wide)) return false;
    if (wide > UINT32_MAX) return fail(place, std::to_string(wide) + " is more than 4294967295");
    value = static_cast<std::uint32_t>(wide);
    return true;
  }
  // Not negative; JSON knows no other numbers than finite ones.
  bool read(const Place& place, double& value) {
    if (!place.json.is_number()) return fail(place, "is no number");
    value = place.json.get<double>();
    return (std::isfinite(value) && value >= 0) || fail(place, "is negative or too large");
  }

  // Calls read_value(place of the field).
  template <typename Read>
  bool with(const Place& object, const char* key, const Read& read_value) {
    const auto field = object.json.find(key);
    if (field == object.json.end()) return fail({object.json, &object, key}, "is missing");
    return read_value(Place{*field, &object, key});
  }
  template <typename T>
  bool field(const Place& object, const char* key, T& value) {
    return with(object, key, [&](const Place& place) { return read(place, value); });
  }

  // One of the values of a row, which has been counted; `key` names it in messages.
  template <typename T>
  bool column(const Place& row, std::size_t index, const char* key, T& value) {
    return read({row.json[index], &row, key}, value);
  }
  bool index_column(const Place& row, std::size_t column_index, const char* key, std::size_t count,
                    std::uint32_t& value) {
    if (!column(row, column_index, key, value)) return false;
    return value < count || fail({row.json[column_index], &row, key},
                                 std::to_string(value) + " is outside the list of " + std::to_string(count));
  }
  bool row_of(const Place& row, std::size_t size) {
    return (row.json.is_array() && row.json.size() == size) ||
           fail(row, "is no list of " + std::to_string(size) + " values");
  }

  // A misspelt field would be a missing one, or be taken for left out.
  bool object_of(const Place& object, const std::vector<std::string>& keys) {
    if (!object.json.is_object()) return fail(object, "is no object");
    for (const auto& [key, value] : object.json.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      return fail({value, &object, key.c_str()}, "is no field of this format");
    }
    return true;
  }

  // Calls read_element(place) for each element of the list under the key, until one returns false.
  template <typename Read>
  bool each(const Place& object, const char* key, const Read& read_element) {
    return with(object, key, [&](const Place& elements) {
      if (!elements.json.is_array()) return fail(elements, "is no list");
      for (std::size_t i = 0; i < elements.json.size(); ++i) {
        if (!read_element(Place{elements.json[i], &elements, nullptr, i})) return false;
      }
      return true;
    });
  }

 private:
  std::string failure_;
};

// Precision and transposes.

class Profile {
 public:
  explicit Profile(Tuning& tuning) : t_(tuning) {}
  const std::string& failure() const { return in_.failure(); }

  bool read(const Json& json) {
    const Place root{json};
    return in_.object_of(root,
                         {"format", "version",  "target", "compute_units", "tool",     "command",   "date",  "strategy",
                          "seed",   "shard",    "shards", "budget_s",      "complete", "elapsed_s", "tried", "winners",
                          "rules",  "variants", "shapes", "measurements",  "failures", "curve"}) &&
           target(root) && origin(root) && variants(root) && shapes(root) && measurements(root) && winners(root) &&
           rules(root) && failures(root) && curve(root);
  }

 private:
  bool target(const Place& root) {
    return in_.with(root, "target", [&](const Place& target) {
      Target& t = t_.target;
      return in_.object_of(target, {"platform_name", "platform_version", "vendor", "device_name", "device_version",
                                    "driver_version", "architecture", "address_bits"}) &&
             in_.field(target, "platform_name", t.platform_name) &&
             in_.field(target, "platform_version", t.platform_version) && in_.field(target, "vendor", t.vendor) &&
             in_.field(target, "device_name", t.device_name) && in_.field(target, "device_version", t.device_version) &&
             in_.field(target, "driver_version", t.driver_version) &&
             in_.field(target, "architecture", t.architecture) && in_.field(target, "address_bits", t.address_bits);
    });
  }

  bool origin(const Place& root) {
    const bool read = in_.field(root, "compute_units", t_.compute_units) && in_.field(root, "tool", t_.tool) &&
                      in_.field(root, "command", t_.command) && in_.field(root, "date", t_.date) &&
                      in_.field(root, "strategy", t_.strategy) && in_.field(root, "seed", t_.seed) &&
                      in_.field(root, "shard", t_.shard) && in_.field(root, "shards", t_.shards) &&
                      in_.field(root, "budget_s", t_.budget_s) && in_.field(root, "elapsed_s", t_.elapsed_s) &&
                      in_.field(root, "complete", t_.complete) && in_.field(root, "tried", t_.tried);
    if (!read || (t_.shard >= 1 && t_.shard <= t_.shards)) return read;
    return in_.fail({root.json, &root, "shard"}, "is outside 1 to " + std::to_string(t_.shards));
  }

  // The variant that a text names.
  bool params(const Place& place, const std::string& text, kernels::Params& params) {
    const std::variant<kernels::Params, std::string> parsed = kernels::parse(text);
    if (const auto* cause = std::get_if<std::string>(&parsed)) return in_.fail(place, *cause);
    params = std::get<kernels::Params>(parsed);
    if (kernels::admits(kNoLimits, params)) return true;
    const kernels::Violation broken = kernels::check(params, kNoLimits).front();
    return in_.fail(place, text + ": " + std::string(broken.constraint) + ": " + broken.reason);
  }

  bool variants(const Place& root) {
    return in_.each(root, "variants", [&](const Place& place) {
      std::string text;
      kernels::Params p;
      if (!in_.read(place, text) || !params(place, text, p)) return false;
      kinds_.push_back(p.kind());
      t_.variants.push_back(text);
      return variants_.emplace(text, variants_.size()).second || in_.fail(place, text + " is there twice");
    });
  }

  bool shapes(const Place& root) {
    return in_.each(root, "shapes", [&](const Place& place) {
      std::string text;
      if (!in_.read(place, text)) return false;
      const std::optional<Shape> shape = parse_shape(text);
      if (!shape || name(*shape) != text) {
        return in_.fail(place, "'" + text + "' is no shape like 'single nn 512x512x512' or '... batch 8'");
      }
      t_.shapes.push_back(*shape);
      return shapes_.emplace(text, shapes_.size()).second || in_.fail(place, text + " is there twice");
    });
  }

  bool agree(const Place& place, std::uint32_t variant, std::uint32_t shape) {
    if (kinds_[variant] == t_.shapes[shape].kind()) return true;
    return in_.fail(place, t_.variants[variant] + " does not compute " + name(t_.shapes[shape]));
  }

  bool sound(const Place& place, const Measurement& m) {
    // A picosecond to eleven days; beyond that the speed that is worked out of it may be no number.
    if (m.median_us < 1e-6 || m.median_us > 1e12) {
      return in_.fail({place.json, &place, "median_us"}, "is outside 0.000001 to 1e12");
    }
    if (m.runs < 1) return in_.fail({place.json, &place, "runs"}, "is 0");
    return agree(place, m.variant, m.shape);
  }

  bool measurements(const Place& root) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    return in_.each(root, "measurements", [&](const Place& row) {
      Measurement m;
      const bool read = in_.row_of(row, 6) && in_.index_column(row, 0, "variant", t_.variants.size(), m.variant) &&
                        in_.index_column(row, 1, "shape", t_.shapes.size(), m.shape) &&
                        in_.column(row, 2, "median_us", m.median_us) && in_.column(row, 3, "spread", m.spread) &&
                        in_.column(row, 4, "runs", m.runs) && in_.column(row, 5, "final", m.final);
      if (!read || !sound(row, m)) return false;
      t_.measurements.push_back(m);
      return seen.emplace(m.variant, m.shape).second ||
             in_.fail(row, t_.variants[m.variant] + " on " + name(t_.shapes[m.shape]) + " is there twice");
    });
  }

  // The index of what a field names.
  bool named(const Place& object, const char* key, const std::map<std::string, std::size_t>& known,
             std::uint32_t& index) {
    return in_.with(object, key, [&](const Place& place) {
      std::string text;
      if (!in_.read(place, text)) return false;
      const auto found = known.find(text);
      if (found == known.end()) return in_.fail(place, "'" + text + "' is not in the list of " + key + "s");
      index = static_cast<std::uint32_t>(found->second);
      return true;
    });
  }

  // Figures that follow from others are there for people, and have to agree.
  bool winners(const Place& root) {
    std::set<std::uint32_t> seen;
    return in_.each(root, "winners", [&](const Place& row) {
      Winner w;
      Measurement& m = w.figures;
      double speed = 0;
      const bool read =
          in_.object_of(row, {"class", "shape", "variant", "median_us", "spread", "gflops", "runs", "final"}) &&
          in_.field(row, "class", w.shape_class) && named(row, "shape", shapes_, m.shape) &&
          named(row, "variant", variants_, m.variant) && in_.field(row, "median_us", m.median_us) &&
          in_.field(row, "spread", m.spread) && in_.field(row, "gflops", speed) && in_.field(row, "runs", m.runs) &&
          in_.field(row, "final", m.final);
      if (!read || !sound(row, m)) return false;
      const Shape& shape = t_.shapes[m.shape];
      if (w.shape_class != shape_class(shape)) {
        return in_.fail({row.json, &row, "class"}, name(shape) + " is of the class " + shape_class(shape));
      }
      if (std::abs(speed / gflops(shape, m.median_us) - 1) > 1e-3) {
        return in_.fail({row.json, &row, "gflops"}, "does not agree with median_us");
      }
      t_.winners.push_back(w);
      return seen.insert(m.shape).second || in_.fail(row, name(shape) + " is there twice");
    });
  }

  bool range(const Place& row, std::size_t column, const char* key, std::uint32_t& min, std::uint32_t& max) {
    const Place place{row.json[column], &row, key};
    if (!in_.row_of(place, 2) || !in_.column(place, 0, "min", min)) return false;
    if (!place.json[1].is_null() && !in_.column(place, 1, "max", max)) return false;
    return min <= max || in_.fail(place, "ends before it begins");
  }

  bool rules(const Place& root) {
    return in_.each(root, "rules", [&](const Place& row) {
      cache::Rule rule;
      const bool batch = row.json.is_array() && row.json.size() == 5;
      const bool read = in_.row_of(row, batch ? 5 : 4) &&
                        in_.index_column(row, 0, "variant", t_.variants.size(), rule.variant) &&
                        range(row, 1, "m", rule.m_min, rule.m_max) && range(row, 2, "n", rule.n_min, rule.n_max) &&
                        range(row, 3, "k", rule.k_min, rule.k_max) &&
                        (!batch || range(row, 4, "batch", rule.batch_min, rule.batch_max));
      if (!read) return false;
      rule.kind() = kinds_[rule.variant];
      t_.rules.push_back(rule);
      return true;
    });
  }

  bool failures(const Place& root) {
    return in_.each(root, "failures", [&](const Place& row) {
      Failure failure;
      kernels::Params p;
      const bool read = in_.object_of(row, {"variant", "cause"}) && in_.field(row, "variant", failure.variant) &&
                        in_.field(row, "cause", failure.cause) &&
                        params({row.json, &row, "variant"}, failure.variant, p);
      t_.failures.push_back(failure);
      return read;
    });
  }

  bool curve(const Place& root) {
    return in_.each(root, "curve", [&](const Place& row) {
      Milestone m;
      const bool read = in_.row_of(row, 5) && in_.column(row, 0, "seconds", m.seconds) &&
                        in_.column(row, 1, "tried", m.tried) &&
                        in_.index_column(row, 2, "variant", t_.variants.size(), m.variant) &&
                        in_.index_column(row, 3, "shape", t_.shapes.size(), m.shape) &&
                        in_.column(row, 4, "gflops", m.gflops) && agree(row, m.variant, m.shape);
      t_.curve.push_back(m);
      return read;
    });
  }

  Reader in_;
  Tuning& t_;
  std::vector<GemmKind> kinds_;  // of the variants
  std::map<std::string, std::size_t> variants_;
  std::map<std::string, std::size_t> shapes_;
};

// Lists in lists without end would take memory many times the size of the text.
bool too_deep(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

// The one place where the library's exceptions end.
Result<Json> parse_json(const std::string& text) {
  if (text.empty()) return {Code::malformed, "is empty"};
  if (too_deep(text)) return {Code::malformed, "no clbake profile: lists within lists"};
  try {
    const std::string names = check_names(text);
    if (!names.empty()) return {Code::malformed, names};
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::string what = error.what();  // "[json.exception...] parse error at ...: CAUSE"
    const std::size_t cause = what.find(": ");
    return {Code::malformed, "line " + std::to_string(line) + ", byte " + std::to_string(error.byte) + ": " +
                                 (at == text.size() ? "the text ends too early: " : "") +
                                 what.substr(cause == std::string::npos ? 0 : cause + 2)};
  } catch (const Json::exception& error) {
    return {Code::malformed, error.what()};
  }
}

Status check_format(const Json& json) {
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (!json.is_object() || format == json.end() || *format != "clbake profile") {
    return {Code::malformed, "no clbake profile: there is no \"format\": \"clbake profile\" in it"};
  }
  const auto version = json.find("version");
  if (version == json.end()) return {Code::malformed, "version: is missing"};
  if (*version == 1) return {};
  if (!version->is_number_unsigned()) return {Code::malformed, "version: is no whole number from 0 on"};
  return {Code::unsupported_version,
          "version: " + version->dump() + " of the profile's format; this clbake reads version 1"};
}

}  // namespace

Result<Tuning> parse_tuning(const std::string& text, const std::string& name) {
  return exceptions_to_status([&]() -> Result<Tuning> {
    const Result<Json> json = parse_json(text);
    if (!json) return json.status().within(name);
    const Status format = check_format(*json);
    if (!format) return format.within(name);
    Tuning tuning;
    Profile profile(tuning);
    if (!profile.read(*json)) return {Code::malformed, name + ": " + profile.failure()};
    return tuning;
  });
}

}  // namespace clbake::builder
