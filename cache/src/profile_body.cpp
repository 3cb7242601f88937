// The body of a profile: rules and cost models.
#include "bodies.hpp"
#include "coding.hpp"
#include "format.hpp"
#include "kind_fields.hpp"

#include <cmath>
#include <string>

namespace clbake::cache {
namespace {

struct Range {
  char name[8];
  std::uint32_t Rule::*min;
  std::uint32_t Rule::*max;
};
constexpr Range kRanges[] = {{"m", &Rule::m_min, &Rule::m_max},
                             {"n", &Rule::n_min, &Rule::n_max},
                             {"k", &Rule::k_min, &Rule::k_max},
                             {"batch", &Rule::batch_min, &Rule::batch_max}};

Status malformed(const char* field, const char* cause) { return {Code::malformed, std::string(field) + cause}; }

Status no_such_variant() { return {Code::malformed, "names a variant that does not exist"}; }

bool at_least_0(float number) { return std::isfinite(number) && number >= 0; }

void encode_kind(FieldWriter& fields, const GemmKind& kind) {
  fields.u32(static_cast<std::uint32_t>(kind.precision));
  fields.u32(transposes(kind));
}

void encode(FieldWriter& fields, const std::vector<std::uint32_t>& variant_index, const Rule& rule) {
  encode_kind(fields, rule);
  for (const Range& range : kRanges) {
    fields.u32(rule.*range.min);
    fields.u32(rule.*range.max);
  }
  fields.u32(variant_index[rule.variant]);
}

void encode(FieldWriter& fields, const std::vector<std::uint32_t>& variant_index, const CostModel& model) {
  encode_kind(fields, model);
  fields.u32(variant_index[model.variant]);
  for (const auto& [name, extent] : kCostModelExtents) fields.u32(model.*extent);
  for (const auto& [name, number] : kCostModelNumbers) fields.f32(model.*number);
}

// Kind by kind; of a kind in the order of the list.
template <typename T>
void encode_list(FieldWriter& fields, const std::vector<std::uint32_t>& variant_index, const std::vector<T>& list) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (const T& item : list) {
      if (index_of(item) == kind) encode(fields, variant_index, item);
    }
  }
}

Status parse_kind(FieldReader& fields, GemmKind& kind) {
  kind.precision = static_cast<Precision>(fields.u32());
  const std::uint32_t flags = fields.u32();
  set_transposes(kind, flags);
  return check_flags(flags, format::kTransA | format::kTransB);
}

Status parse(FieldReader& fields, std::uint32_t variant_count, Rule& rule) {
  if (Status status = parse_kind(fields, rule); !status) return status;
  for (const Range& range : kRanges) {
    rule.*range.min = fields.u32();
    rule.*range.max = fields.u32();
  }
  rule.variant = fields.u32();
  return check_rule(rule, variant_count);
}

Status parse(FieldReader& fields, std::uint32_t variant_count, CostModel& model) {
  if (Status status = parse_kind(fields, model); !status) return status;
  model.variant = fields.u32();
  for (const auto& [name, extent] : kCostModelExtents) model.*extent = fields.u32();
  for (const auto& [name, number] : kCostModelNumbers) model.*number = fields.f32();
  return check_model(model, variant_count);
}

Status check_order(const GemmKind& before, const GemmKind& kind) {
  return kind < before ? malformed("its kind", " is out of order") : Status();
}

// As many as the list has. `what` names one of them.
template <typename T>
Status parse_list(FieldReader& fields, std::uint32_t variant_count, const char* what, std::vector<T>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    Status status = parse(fields, variant_count, list[i]);
    if (status && i > 0) status = check_order(list[i - 1], list[i]);
    if (!status) return status.within(what + std::to_string(i));
  }
  return {};
}

template <typename T>
Status check_counts(const std::vector<T>& list, std::uint64_t most, const char* what) {
  std::uint64_t counts[kKinds] = {};
  for (const T& item : list) {
    if (++counts[index_of(item)] > most) return malformed(what, ": too many of a kind");
  }
  return {};
}

}  // namespace

Bytes encode_profile(const Profile& profile, const std::vector<std::uint32_t>& variant_index) {
  FieldWriter fields;
  fields.u32(profile.units);
  fields.u32(static_cast<std::uint32_t>(profile.exceptions.size()));
  fields.u32(static_cast<std::uint32_t>(profile.models.size()));
  fields.u32(static_cast<std::uint32_t>(profile.defaults.size()));
  encode_list(fields, variant_index, profile.exceptions);
  encode_list(fields, variant_index, profile.models);
  encode_list(fields, variant_index, profile.defaults);
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
  profile.exceptions = std::vector<Rule>(exceptions);
  profile.models = std::vector<CostModel>(models);
  profile.defaults = std::vector<Rule>(defaults);
  Status status = parse_list(fields, variant_count, "exception ", profile.exceptions);
  if (status) status = parse_list(fields, variant_count, "cost model ", profile.models);
  if (status) status = parse_list(fields, variant_count, "default ", profile.defaults);
  if (status) status = check_profile(profile);
  if (!status) return status;
  return profile;
}

Status check_profile(const Profile& profile) {
  if (profile.units == 0) return malformed("units", " is 0");
  Status status = check_counts(profile.exceptions, format::kMaxRulesOfKind, "exceptions");
  if (status) status = check_counts(profile.models, format::kMaxModelsOfKind, "cost models");
  if (status) status = check_counts(profile.defaults, format::kMaxRulesOfKind, "defaults");
  return status;
}

Status check_model(const CostModel& model, std::size_t variant_count) {
  if (Status status = check_precision(model.precision); !status) return status;
  if (model.variant >= variant_count) return no_such_variant();
  for (const auto& [name, extent] : kCostModelExtents) {
    if (model.*extent == 0 && extent != &CostModel::slices) return malformed(name, " is 0");
  }
  for (const auto& [name, number] : kCostModelNumbers) {
    if (!at_least_0(model.*number)) return malformed(name, " is negative or not finite");
  }
  return {};
}

Status check_rule(const Rule& rule, std::size_t variant_count) {
  if (Status status = check_precision(rule.precision); !status) return status;
  for (const Range& range : kRanges) {
    if (rule.*range.min > rule.*range.max) return malformed(range.name, ": an empty range");
  }
  if (rule.variant >= variant_count) return no_such_variant();
  return {};
}

}  // namespace clbake::cache
