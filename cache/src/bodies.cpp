#include "bodies.hpp"

#include <clbake/cache/limits.hpp>
#include <clbake/joined.hpp>

#include "coding.hpp"
#include "format.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace clbake::cache {
namespace {

// ---- The fields of each body, in the order of the file ----

template <typename Fields, typename T>
void describe_target(Fields& fields, T& t) {
  fields(t.address_bits, t.platform_name, t.platform_version, t.vendor, t.device_name, t.device_version,
         t.driver_version, t.architecture);
}

template <typename Fields, typename T>
void describe_launch(Fields& fields, T& launch) {
  fields(launch.role, launch.kernel_name, launch.local[0], launch.local[1], launch.local[2], launch.tile_m,
         launch.tile_n);
}

// Up to the number of launches.
template <typename Fields, typename T, typename Number>
void describe_variant(Fields& fields, T& v, Number& flags, Number& source, Number& launches) {
  fields(v.precision, flags, v.contract, source, v.block_m, v.block_n, v.block_k, v.split_k, v.name, v.family,
         v.build_options, launches);
}

// A rule or a cost model. The index of the variant differs between the value and what is written.
template <typename Fields, typename T, typename Number>
void describe_item(Fields& fields, T& item, Number& flags, Number& variant) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, Rule>) {
    fields(item.precision, flags, item.m_min, item.m_max, item.n_min, item.n_max, item.k_min, item.k_max,
           item.batch_min, item.batch_max, variant);
  } else {
    fields(item.precision, flags, variant);
    for (const auto& [name, extent] : kCostModelExtents) fields(item.*extent);
    for (const auto& [name, number] : kCostModelNumbers) fields(item.*number);
  }
}

// ---- Rules ----

Status malformed(const char* cause) { return {Code::malformed, cause}; }
Status malformed(const char* field, const char* cause) { return {Code::malformed, std::string(field) + cause}; }
Status wrong_length() { return malformed("its fields do not fill the body exactly"); }
Status no_such_variant() { return malformed("names a variant that does not exist"); }

std::uint32_t transposes(const GemmKind& kind) {
  return (kind.trans_a ? format::kTransA : 0) | (kind.trans_b ? format::kTransB : 0);
}

// Sets the transposes unless the flags have others than the known ones.
Status set_transposes(GemmKind& kind, std::uint32_t flags, std::uint32_t known) {
  if ((flags & format::kRefusedFlags & ~known) != 0) {
    return {Code::unsupported_version, "asks for a feature that this reader lacks"};
  }
  kind.trans_a = (flags & format::kTransA) != 0;
  kind.trans_b = (flags & format::kTransB) != 0;
  return {};
}

Status check_precision(Precision precision) {
  const auto value = static_cast<std::uint32_t>(precision);
  if (format::known_precision(value)) return {};
  return {Code::unsupported_version, joined({"unknown precision ", value})};
}

Status check_precision_of(const Variant& variant) {
  return variant.is_program() ? Status() : check_precision(variant.precision);
}

Status check_launch_count(std::size_t count, bool is_possible) {
  return is_possible ? Status() : malformed("impossible number of launches: ", std::to_string(count).c_str());
}

Status check_launch(const Launch& launch, bool is_program) {
  const auto zeros = std::count(launch.local, launch.local + 3, 0U);
  const bool drivers_choice = is_program && zeros == 3;
  if ((zeros > 0 && !drivers_choice) || launch.tile_m == 0 || launch.tile_n == 0) {
    return malformed("a launch with an extent of 0");
  }
  const auto role = static_cast<std::uint32_t>(launch.role);
  if (!format::known_role(role)) return {Code::unsupported_version, joined({"unknown role ", role})};
  if ((launch.role == Role::kernel) == is_program) return {};
  return malformed(is_program ? "a program with a launch of a product" : "a product with a program's launch");
}

// ---- The lists of a profile ----

// Kind by kind; of a kind in the order of the list.
template <typename T>
void encode_list(FieldWriter& fields, const std::vector<std::uint32_t>& variant_index, const std::vector<T>& list) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (const T& item : list) {
      const std::uint32_t flags = transposes(item);
      if (index_of(item) == kind) describe_item(fields, item, flags, variant_index[item.variant]);
    }
  }
}

// As many as the list has. `what` names one of them.
template <typename T>
Status parse_list(FieldReader& fields, std::uint32_t variant_count, const char* what, std::vector<T>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::uint32_t flags = 0;
    describe_item(fields, list[i], flags, list[i].variant);
    Status status = set_transposes(list[i], flags, format::kTransA | format::kTransB);
    if (status) status = check(list[i], variant_count);
    if (status && i > 0 && list[i].kind() < list[i - 1].kind()) status = malformed("its kind is out of order");
    if (!status) return status.within(joined({what, i}));
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

Bytes encode_target(const Target& target) {
  FieldWriter fields;
  describe_target(fields, target);
  if (!target.cpu_features.empty()) fields(target.cpu_features);
  return fields.take();
}

Result<Target> parse_target(ByteView body) {
  FieldReader fields(body);
  Target target;
  describe_target(fields, target);
  const bool more = fields.ok() && fields.left() > 0;
  if (more) fields(target.cpu_features);
  if (!fields.complete()) return wrong_length();
  if (more && target.cpu_features.empty()) return malformed("has an empty list of CPU features");
  return target;
}

Bytes encode_source(const Source& source) {
  FieldWriter fields;
  fields(source.name, source.text);
  return fields.take();
}

Result<Source> parse_source(ByteView body) {
  FieldReader fields(body);
  Source source;
  fields(source.name, source.text);
  if (!fields.complete()) return wrong_length();
  return source;
}

Bytes encode_variant(const Variant& variant, std::uint32_t source, std::uint32_t trial) {
  FieldWriter fields;
  const std::uint32_t flags =
      transposes(variant) | (variant.image_a ? format::kImageA : 0) | (variant.image_b ? format::kImageB : 0);
  const std::uint32_t to = source, launches = static_cast<std::uint32_t>(variant.launches.size());
  describe_variant(fields, variant, flags, to, launches);
  for (const Launch& launch : variant.launches) describe_launch(fields, launch);
  if (variant.is_program()) fields(variant.content, trial, variant.parts.size());
  for (const ContentDigest& part : variant.parts) fields(part);
  return fields.take();
}

Result<Variant> parse_variant(ByteView body, std::uint32_t source_count) {
  FieldReader fields(body);
  Variant variant;
  std::uint32_t flags = 0, launches = 0;
  describe_variant(fields, variant, flags, variant.source, launches);
  // First: what follows may have another layout in a newer version.
  const std::uint32_t of_products = format::kTransA | format::kTransB | format::kImageA | format::kImageB;
  Status status = check_precision_of(variant);
  if (status) status = set_transposes(variant, flags, variant.is_program() ? 0 : of_products);
  if (status && !fields.ok()) status = wrong_length();
  if (status) status = check_launch_count(launches, launches <= kMaxLaunches);
  if (!status) return status;
  variant.image_a = (flags & format::kImageA) != 0;
  variant.image_b = (flags & format::kImageB) != 0;
  for (std::uint32_t i = 0; i < launches && fields.ok(); ++i) describe_launch(fields, variant.launches.emplace_back());
  std::uint32_t parts = 0;
  if (variant.is_program()) fields(variant.content, variant.trial, parts);
  for (std::uint32_t i = 0; i < parts && fields.ok(); ++i) fields(variant.parts.emplace_back());
  if (!fields.complete()) return wrong_length();
  if (status = check_variant(variant, source_count); !status) return status;
  return variant;
}

Status check_variant(const Variant& variant, std::size_t source_count) {
  if (Status status = check_precision_of(variant); !status) return status;
  const bool has_flags = variant.trans_a || variant.trans_b || variant.image_a || variant.image_b;
  if (variant.is_program() && has_flags) return malformed("a program with operands of a product");
  if (!variant.is_program() && (variant.trial != 0 || variant.content != no_content || !variant.parts.empty())) {
    return malformed("a product with a program's trial, content or parts");
  }
  if (variant.source >= source_count) return malformed("names a source that does not exist");
  if (variant.trial > source_count) return malformed("names a trial that does not exist");
  if (variant.block_m == 0 || variant.block_n == 0 || variant.block_k == 0) return malformed("a blocking factor of 0");
  const std::size_t count = variant.launches.size();
  const bool is_possible = count <= kMaxLaunches && (count > 0 || variant.is_program());
  if (Status status = check_launch_count(count, is_possible); !status) return status;
  for (const Launch& launch : variant.launches) {
    if (Status status = check_launch(launch, variant.is_program()); !status) return status;
  }
  return {};
}

Bytes encode_profile(const Profile& profile, const std::vector<std::uint32_t>& variant_index) {
  FieldWriter fields;
  fields(profile.units, profile.exceptions.size(), profile.models.size(), profile.defaults.size());
  encode_list(fields, variant_index, profile.exceptions);
  encode_list(fields, variant_index, profile.models);
  encode_list(fields, variant_index, profile.defaults);
  return fields.take();
}

Result<Profile> parse_profile(ByteView body, std::uint32_t target, std::uint32_t variant_count) {
  FieldReader fields(body);
  Profile profile;
  profile.target = target;
  std::uint64_t exceptions = 0, models = 0, defaults = 0;
  fields(profile.units, exceptions, models, defaults);
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
  if (profile.units == 0) return malformed("units is 0");
  Status status = check_counts(profile.exceptions, format::kMaxRulesOfKind, "exceptions");
  if (status) status = check_counts(profile.models, format::kMaxModelsOfKind, "cost models");
  if (status) status = check_counts(profile.defaults, format::kMaxRulesOfKind, "defaults");
  return status;
}

Status check(const CostModel& model, std::size_t variant_count) {
  if (Status status = check_precision(model.precision); !status) return status;
  if (model.variant >= variant_count) return no_such_variant();
  for (const auto* at = kCostModelExtents; at->value != &CostModel::regime; ++at) {
    if (model.*at->value == 0 && at->value != &CostModel::slices) return malformed(at->name, " is 0");
  }
  if (model.regime > 2) return malformed("regime is above 2");
  for (const auto& [name, number] : kCostModelNumbers) {
    const bool valid = std::isfinite(model.*number) && model.*number >= 0;
    if (!valid) return malformed(name, " is negative or not finite");
  }
  return {};
}

Status check(const Rule& rule, std::size_t variant_count) {
  if (Status status = check_precision(rule.precision); !status) return status;
  const char* empty = rule.m_min > rule.m_max           ? "m"
                      : rule.n_min > rule.n_max         ? "n"
                      : rule.k_min > rule.k_max         ? "k"
                      : rule.batch_min > rule.batch_max ? "batch"
                                                        : nullptr;
  if (empty != nullptr) return malformed(empty, ": an empty range");
  return rule.variant < variant_count ? Status() : no_such_variant();
}

Bytes encode_texts(const Proof& proof) {
  const bool has_text = !proof.device.empty() || !proof.driver.empty() || !proof.note.empty() || !proof.log.empty();
  if (!has_text && proof.tools.empty() && proof.specialisations.empty()) return {};
  FieldWriter fields;
  fields(proof.tools.size());
  for (const Tool& tool : proof.tools) fields(tool.name, tool.version);
  fields(proof.device, proof.driver, proof.note, proof.log, proof.specialisations.size());
  for (const std::string& text : proof.specialisations) fields(text);
  return fields.take();
}

// An item of a list takes at least four bytes, so that no count makes a loop longer than the body.
Status parse_texts(ByteView body, Proof& proof) {
  if (body.size == 0) return {};
  FieldReader fields(body);
  std::uint32_t tools = 0, texts = 0;
  fields(tools);
  for (std::uint32_t i = 0; i < tools && fields.ok(); ++i) {
    Tool& tool = proof.tools.emplace_back();
    fields(tool.name, tool.version);
  }
  fields(proof.device, proof.driver, proof.note, proof.log, texts);
  for (std::uint32_t i = 0; i < texts && fields.ok(); ++i) fields(proof.specialisations.emplace_back());
  return fields.complete() ? check_texts(proof) : wrong_length();
}

Status check_texts(const Proof& proof) {
  for (std::size_t i = 0; i < proof.tools.size(); ++i) {
    if (proof.tools[i].name.empty()) return malformed(joined({"tool ", i}).c_str(), " has no name");
  }
  if (!proof.proven && !proof.device.empty()) return malformed("has a device, but is not proven");
  if (!proof.proven && !proof.driver.empty()) return malformed("has a driver, but is not proven");
  if (proof.log.size() > kMaxLogBytes) return malformed("the log is longer than 16 KiB");
  return {};
}

// ---- Values ----

bool Target::operator==(const Target& other) const { return encode_target(*this) == encode_target(other); }

// A blank, or an end of the list.
bool ends_feature(std::string_view list, std::size_t at) { return at >= list.size() || list[at] == ' '; }

std::string_view missing_feature(const Target& made_for, const Target& device) {
  const std::string_view wanted = made_for.cpu_features;
  const std::string& present = device.cpu_features;
  for (std::size_t begin = 0, end = 0; begin < wanted.size(); begin = end + 1) {
    for (end = begin; !ends_feature(wanted, end);) ++end;
    const std::size_t size = end - begin;
    std::size_t at = present.find(&wanted[begin], 0, size);
    while (at < present.size() && !(ends_feature(present, at - 1) && ends_feature(present, at + size))) {
      at = present.find(&wanted[begin], at + 1, size);
    }
    if (at >= present.size() && size > 0) return wanted.substr(begin, size);
  }
  return {};
}

Target any_device(bool is_cpu) {
  Target target;
  target.device_name = is_cpu ? "any CPU" : "any GPU";
  return target;
}

Bytes identifying_bytes(const Variant& variant, const Source& source) {
  Bytes bytes = encode_variant(variant, 0, 0);
  const Bytes more = encode_source(source);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

}  // namespace clbake::cache
