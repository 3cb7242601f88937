// The body of a profile: rules and cost models.
#include "bodies.hpp"
#include "coding.hpp"
#include "format.hpp"
#include "kind_fields.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace clbake::cache {
namespace {

struct Range {
  const char* name;
  std::uint32_t Rule::*min;
  std::uint32_t Rule::*max;
};
constexpr Range kRanges[] = {{"m", &Rule::m_min, &Rule::m_max},
                             {"n", &Rule::n_min, &Rule::n_max},
                             {"k", &Rule::k_min, &Rule::k_max},
                             {"batch", &Rule::batch_min, &Rule::batch_max}};

Status no_such_variant() { return {Code::malformed, "names a variant that does not exist"}; }

Status too_many(const char* what) { return {Code::malformed, std::string("too many ") + what + " of a kind"}; }

bool at_least_0(float number) { return std::isfinite(number) && number >= 0; }

void encode_kind(FieldWriter& fields, const GemmKind& kind) {
  fields.u32(static_cast<std::uint32_t>(kind.precision));
  fields.u32(transposes(kind));
}

void encode_rules(FieldWriter& fields, const std::vector<Rule>& rules,
                  const std::vector<std::uint32_t>& variant_index) {
  for (const Rule& rule : rules) {
    encode_kind(fields, rule);
    for (const Range& range : kRanges) {
      fields.u32(rule.*range.min);
      fields.u32(rule.*range.max);
    }
    fields.u32(variant_index[rule.variant]);
  }
}

Status parse_kind(FieldReader& fields, GemmKind& kind) {
  kind.precision = static_cast<Precision>(fields.u32());
  const std::uint32_t flags = fields.u32();
  set_transposes(kind, flags);
  return check_flags(flags, format::kTransA | format::kTransB);
}

Result<Rule> parse_rule(FieldReader& fields, std::uint32_t variant_count) {
  Rule rule;
  if (Status status = parse_kind(fields, rule); !status) return status;
  for (const Range& range : kRanges) {
    rule.*range.min = fields.u32();
    rule.*range.max = fields.u32();
  }
  rule.variant = fields.u32();
  if (Status status = check_rule(rule, variant_count); !status) return status;
  return rule;
}

Result<CostModel> parse_model(FieldReader& fields, std::uint32_t variant_count) {
  CostModel model;
  if (Status status = parse_kind(fields, model); !status) return status;
  model.variant = fields.u32();
  for (const auto& [name, extent] : kCostModelExtents) model.*extent = fields.u32();
  for (const auto& [name, number] : kCostModelNumbers) model.*number = fields.f32();
  if (Status status = check_model(model, variant_count); !status) return status;
  return model;
}

// `count` of them, which the body is known to hold.
template <typename T, typename Parse>
Status parse_list(FieldReader& fields, std::uint64_t count, const char* what, std::vector<T>& list,
                  const Parse& parse) {
  list.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    Result<T> item = parse(fields);
    if (!item) return item.status().within(what + std::to_string(i));
    list.push_back(*item);
  }
  return {};
}

template <typename T>
bool more_of_a_kind_than(std::uint64_t most, const std::vector<T>& list) {
  std::uint64_t counts[kKinds] = {};
  return std::any_of(list.begin(), list.end(), [&](const T& item) { return ++counts[index_of(item.kind())] > most; });
}

}  // namespace

Bytes encode_profile(const Profile& profile, const std::vector<std::uint32_t>& variant_index) {
  FieldWriter fields;
  fields.u32(profile.units);
  fields.u32(static_cast<std::uint32_t>(profile.exceptions.size()));
  fields.u32(static_cast<std::uint32_t>(profile.models.size()));
  fields.u32(static_cast<std::uint32_t>(profile.defaults.size()));
  encode_rules(fields, profile.exceptions, variant_index);
  for (const CostModel& model : profile.models) {
    encode_kind(fields, model);
    fields.u32(variant_index[model.variant]);
    for (const auto& [name, extent] : kCostModelExtents) fields.u32(model.*extent);
    for (const auto& [name, number] : kCostModelNumbers) fields.f32(model.*number);
  }
  encode_rules(fields, profile.defaults, variant_index);
  return fields.take();
}

Result<Profile> parse_profile(ByteView body, std::uint32_t target, std::uint32_t variant_count) {
  FieldReader fields(body);
  Profile profile;
  profile.target = target;
  profile.units = fields.u32();
  const std::uint64_t exceptions = fields.u32();
  const std::uint64_t models = fields.u32();
  const std::uint64_t defaults = fields.u32();
  if (!fields.ok() ||
      (exceptions + defaults) * format::kRuleBytes + models * format::kCostModelBytes != fields.left()) {
    return wrong_length();
  }
  const auto rule = [&](FieldReader& at) { return parse_rule(at, variant_count); };
  const auto model = [&](FieldReader& at) { return parse_model(at, variant_count); };
  Status status = parse_list(fields, exceptions, "exception ", profile.exceptions, rule);
  if (status) status = parse_list(fields, models, "cost model ", profile.models, model);
  if (status) status = parse_list(fields, defaults, "default ", profile.defaults, rule);
  if (!status) return status;
  if (status = check_profile(profile); !status) return status;
  return profile;
}

Status check_profile(const Profile& profile) {
  if (profile.units == 0) return {Code::malformed, "units is 0"};
  if (more_of_a_kind_than(format::kMaxRulesOfKind, profile.exceptions)) return too_many("exceptions");
  if (more_of_a_kind_than(format::kMaxModelsOfKind, profile.models)) return too_many("cost models");
  if (more_of_a_kind_than(format::kMaxRulesOfKind, profile.defaults)) return too_many("defaults");
  return {};
}

Status check_model(const CostModel& model, std::size_t variant_count) {
  if (Status status = check_precision(model.precision); !status) return status;
  if (model.variant >= variant_count) return no_such_variant();
  for (const auto& [name, extent] : kCostModelExtents) {
    if (model.*extent == 0) return {Code::malformed, std::string(name) + " is 0"};
  }
  for (const auto& [name, number] : kCostModelNumbers) {
    if (!at_least_0(model.*number)) return {Code::malformed, std::string(name) + " is negative or not finite"};
  }
  return {};
}

Status check_rule(const Rule& rule, std::size_t variant_count) {
  if (Status status = check_precision(rule.precision); !status) return status;
  for (const Range& range : kRanges) {
    if (rule.*range.min > rule.*range.max) return {Code::malformed, "an empty range of " + std::string(range.name)};
  }
  if (rule.variant >= variant_count) return no_such_variant();
  return {};
}

}  // namespace clbake::cache
