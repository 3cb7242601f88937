#include "bodies.hpp"

#include "coding.hpp"
#include "format.hpp"

namespace clbake::cache {
namespace {

Status ends_early_or_late() { return {Code::malformed, "its fields do not fill the body exactly"}; }

Status check_precision_and_flags(std::uint32_t precision, std::uint32_t flags, std::uint32_t known_flags) {
  if (!format::known_precision(precision)) {
    return {Code::unsupported_version, "unknown precision " + std::to_string(precision)};
  }
  if ((flags & format::kRefusedFlags & ~known_flags) != 0) {
    return {Code::unsupported_version, "asks for a feature that this reader lacks"};
  }
  return {};
}

Launch parse_launch(FieldReader& fields) {
  Launch launch;
  launch.role = static_cast<Role>(fields.u32());
  launch.kernel_name = fields.string();
  for (std::uint32_t& extent : launch.local) extent = fields.u32();
  launch.tile_m = fields.u32();
  launch.tile_n = fields.u32();
  return launch;
}

bool valid(const Launch& launch) {
  return launch.local[0] != 0 && launch.local[1] != 0 && launch.local[2] != 0 && launch.tile_m != 0 &&
         launch.tile_n != 0;
}

Status parse_launches(FieldReader& fields, Variant& variant) {
  const std::uint32_t count = fields.u32();
  if (!fields.ok()) return ends_early_or_late();
  if (count == 0 || count > format::kMaxLaunches) {
    return {Code::malformed, "impossible number of launches: " + std::to_string(count)};
  }
  for (std::uint32_t i = 0; i < count; ++i) variant.launches.push_back(parse_launch(fields));
  if (!fields.complete()) return ends_early_or_late();
  for (const Launch& launch : variant.launches) {
    if (!valid(launch)) return {Code::malformed, "a launch with an extent of 0"};
    if (!format::known_role(static_cast<std::uint32_t>(launch.role))) {
      return {Code::unsupported_version, "unknown role " + std::to_string(static_cast<std::uint32_t>(launch.role))};
    }
  }
  return {};
}

Result<Rule> parse_rule(FieldReader& fields, std::uint32_t variant_count) {
  const std::uint32_t precision = fields.u32();
  const std::uint32_t flags = fields.u32();
  const std::uint32_t known_flags = format::kTransA | format::kTransB;
  if (Status status = check_precision_and_flags(precision, flags, known_flags); !status) return status;
  Rule rule;
  rule.precision = static_cast<Precision>(precision);
  rule.trans_a = (flags & format::kTransA) != 0;
  rule.trans_b = (flags & format::kTransB) != 0;
  for (std::uint32_t* bound : {&rule.m_min, &rule.m_max, &rule.n_min, &rule.n_max, &rule.k_min, &rule.k_max,
                               &rule.batch_min, &rule.batch_max}) {
    *bound = fields.u32();
  }
  rule.variant = fields.u32();
  rule.gflops = fields.f32();
  if (rule.m_min > rule.m_max || rule.n_min > rule.n_max || rule.k_min > rule.k_max ||
      rule.batch_min > rule.batch_max) {
    return Status(Code::malformed, "a rule with an empty range");
  }
  if (rule.variant >= variant_count) return Status(Code::malformed, "a rule names a variant that does not exist");
  return rule;
}

}  // namespace

Bytes encode_target(const Target& target) {
  FieldWriter fields;
  fields.u32(target.address_bits);
  for (const std::string* text : {&target.platform_name, &target.platform_version, &target.vendor, &target.device_name,
                                  &target.device_version, &target.driver_version, &target.architecture}) {
    fields.string(*text);
  }
  return fields.take();
}

Result<Target> parse_target(ByteView body) {
  FieldReader fields(body);
  Target target;
  target.address_bits = fields.u32();
  for (std::string* text : {&target.platform_name, &target.platform_version, &target.vendor, &target.device_name,
                            &target.device_version, &target.driver_version, &target.architecture}) {
    *text = fields.string();
  }
  if (!fields.complete()) return ends_early_or_late();
  return target;
}

Result<Source> parse_source(ByteView body) {
  FieldReader fields(body);
  Source source;
  source.name = fields.string();
  source.text = fields.string();
  if (!fields.complete()) return ends_early_or_late();
  return source;
}

Result<Variant> parse_variant(ByteView body, std::uint32_t source_count) {
  FieldReader fields(body);
  const std::uint32_t precision = fields.u32();
  const std::uint32_t flags = fields.u32();
  Variant variant;
  variant.contract = fields.u32();
  variant.source = fields.u32();
  for (std::uint32_t* factor : {&variant.block_m, &variant.block_n, &variant.block_k, &variant.split_k}) {
    *factor = fields.u32();
  }
  variant.name = fields.string();
  variant.family = fields.string();
  variant.build_options = fields.string();
  if (!fields.ok()) return ends_early_or_late();
  const std::uint32_t known_flags = format::kTransA | format::kTransB | format::kImageA | format::kImageB;
  if (Status status = check_precision_and_flags(precision, flags, known_flags); !status) return status;
  variant.precision = static_cast<Precision>(precision);
  variant.trans_a = (flags & format::kTransA) != 0;
  variant.trans_b = (flags & format::kTransB) != 0;
  variant.image_a = (flags & format::kImageA) != 0;
  variant.image_b = (flags & format::kImageB) != 0;
  if (variant.block_m == 0 || variant.block_n == 0 || variant.block_k == 0 || variant.split_k == 0) {
    return Status(Code::malformed, "a blocking factor of 0");
  }
  if (variant.source >= source_count) return Status(Code::malformed, "names a source that does not exist");
  if (Status status = parse_launches(fields, variant); !status) return status;
  return variant;
}

Bytes encode_texts(const Proof& proof) {
  if (proof.tools.empty() && proof.note.empty() && proof.specialisations.empty()) return {};
  FieldWriter fields;
  fields.string(proof.tools);
  fields.string(proof.note);
  fields.u32(static_cast<std::uint32_t>(proof.specialisations.size()));
  for (const std::string& text : proof.specialisations) fields.string(text);
  return fields.take();
}

Status parse_texts(ByteView body, Proof& proof) {
  if (body.size == 0) return {};
  FieldReader fields(body);
  proof.tools = fields.string();
  proof.note = fields.string();
  const std::uint32_t count = fields.u32();
  // Each takes four bytes at least: no count makes this loop longer than the body.
  for (std::uint32_t i = 0; i < count && fields.ok(); ++i) proof.specialisations.emplace_back(fields.string());
  return fields.complete() ? Status() : ends_early_or_late();
}

Result<Profile> parse_profile(ByteView body, std::uint32_t target, std::uint32_t variant_count) {
  FieldReader fields(body);
  const std::uint64_t count = fields.u32();
  if (!fields.ok() || count * format::kRuleBytes != fields.left()) return ends_early_or_late();
  Profile profile;
  profile.target = target;
  profile.rules.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    Result<Rule> rule = parse_rule(fields, variant_count);
    if (!rule) return rule.status().within("rule " + std::to_string(i));
    profile.rules.push_back(*rule);
  }
  return profile;
}

}  // namespace clbake::cache
