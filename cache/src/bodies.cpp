#include "bodies.hpp"

#include "coding.hpp"
#include "format.hpp"
#include "kind_fields.hpp"

namespace clbake::cache {
namespace {

// The texts of a target, in the order of the file.
constexpr std::string Target::*kTargetTexts[] = {
    &Target::platform_name,  &Target::platform_version, &Target::vendor,      &Target::device_name,
    &Target::device_version, &Target::driver_version,   &Target::architecture};

constexpr std::uint32_t Variant::*kBlockingFactors[] = {&Variant::block_m, &Variant::block_n, &Variant::block_k,
                                                        &Variant::split_k};

void encode_launch(FieldWriter& fields, const Launch& launch) {
  fields.u32(static_cast<std::uint32_t>(launch.role));
  fields.string(launch.kernel_name);
  for (const std::uint32_t extent : launch.local) fields.u32(extent);
  fields.u32(launch.tile_m);
  fields.u32(launch.tile_n);
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

Status check_launch(const Launch& launch, bool is_program) {
  for (const std::uint32_t extent : {launch.local[0], launch.local[1], launch.local[2], launch.tile_m, launch.tile_n}) {
    if (extent == 0) return {Code::malformed, "a launch with an extent of 0"};
  }
  const auto role = static_cast<std::uint32_t>(launch.role);
  if (!format::known_role(role)) return {Code::unsupported_version, "unknown role " + std::to_string(role)};
  if ((launch.role == Role::kernel) == is_program) return {};
  return {Code::malformed, is_program ? "a program with a launch of a product" : "a product with a program's launch"};
}

Status parse_launches(FieldReader& fields, Variant& variant) {
  const std::uint32_t count = fields.u32();
  if (!fields.ok()) return wrong_length();
  if (count > format::kMaxLaunches) {
    return {Code::malformed, "impossible number of launches: " + std::to_string(count)};
  }
  for (std::uint32_t i = 0; i < count && fields.ok(); ++i) variant.launches.push_back(parse_launch(fields));
  if (variant.is_program()) variant.trial = fields.string();
  return fields.complete() ? Status() : wrong_length();
}

Status check_precision_of(const Variant& variant) {
  return variant.is_program() ? Status() : check_precision(variant.precision);
}

}  // namespace

Bytes encode_target(const Target& target) {
  FieldWriter fields;
  fields.u32(target.address_bits);
  for (const auto text : kTargetTexts) fields.string(target.*text);
  return fields.take();
}

Result<Target> parse_target(ByteView body) {
  FieldReader fields(body);
  Target target;
  target.address_bits = fields.u32();
  for (const auto text : kTargetTexts) target.*text = fields.string();
  if (!fields.complete()) return wrong_length();
  return target;
}

Bytes encode_source(const Source& source) {
  FieldWriter fields;
  fields.string(source.name);
  fields.string(source.text);
  return fields.take();
}

Result<Source> parse_source(ByteView body) {
  FieldReader fields(body);
  Source source;
  source.name = fields.string();
  source.text = fields.string();
  if (!fields.complete()) return wrong_length();
  return source;
}

Bytes encode_variant(const Variant& variant, std::uint32_t source) {
  FieldWriter fields;
  fields.u32(static_cast<std::uint32_t>(variant.precision));
  fields.u32(transposes(variant) | (variant.image_a ? format::kImageA : 0) | (variant.image_b ? format::kImageB : 0));
  fields.u32(variant.contract);
  fields.u32(source);
  for (const auto factor : kBlockingFactors) fields.u32(variant.*factor);
  fields.string(variant.name);
  fields.string(variant.family);
  fields.string(variant.build_options);
  fields.u32(static_cast<std::uint32_t>(variant.launches.size()));
  for (const Launch& launch : variant.launches) encode_launch(fields, launch);
  if (variant.is_program()) fields.string(variant.trial);
  return fields.take();
}

Result<Variant> parse_variant(ByteView body, std::uint32_t source_count) {
  FieldReader fields(body);
  Variant variant;
  variant.precision = static_cast<Precision>(fields.u32());
  const std::uint32_t flags = fields.u32();
  variant.contract = fields.u32();
  variant.source = fields.u32();
  for (const auto factor : kBlockingFactors) variant.*factor = fields.u32();
  variant.name = fields.string();
  variant.family = fields.string();
  variant.build_options = fields.string();
  if (!fields.ok()) return wrong_length();
  // First: what follows may have another layout in a newer version.
  if (Status status = check_precision_of(variant); !status) return status;
  const std::uint32_t of_products = format::kTransA | format::kTransB | format::kImageA | format::kImageB;
  const std::uint32_t known_flags = variant.is_program() ? 0 : of_products;
  if (Status status = check_flags(flags, known_flags); !status) return status;
  set_transposes(variant, flags);
  variant.image_a = (flags & format::kImageA) != 0;
  variant.image_b = (flags & format::kImageB) != 0;
  if (Status status = parse_launches(fields, variant); !status) return status;
  if (Status status = check_variant(variant, source_count); !status) return status;
  return variant;
}

Status check_variant(const Variant& variant, std::size_t source_count) {
  if (Status status = check_precision_of(variant); !status) return status;
  const bool has_flags = variant.trans_a || variant.trans_b || variant.image_a || variant.image_b;
  if (variant.is_program() && has_flags) return {Code::malformed, "a program with operands of a product"};
  if (!variant.is_program() && !variant.trial.empty()) return {Code::malformed, "a product with a program's trial"};
  if (variant.source >= source_count) return {Code::malformed, "names a source that does not exist"};
  for (const auto factor : kBlockingFactors) {
    if (variant.*factor == 0 && factor != &Variant::split_k) return {Code::malformed, "a blocking factor of 0"};
  }
  if (variant.launches.empty() || variant.launches.size() > format::kMaxLaunches) {
    return {Code::malformed, "impossible number of launches: " + std::to_string(variant.launches.size())};
  }
  for (const Launch& launch : variant.launches) {
    if (Status status = check_launch(launch, variant.is_program()); !status) return status;
  }
  return {};
}

Bytes encode_texts(const Proof& proof) {
  const bool has_text = !proof.device.empty() || !proof.driver.empty() || !proof.note.empty();
  if (!has_text && proof.tools.empty() && proof.specialisations.empty()) return {};
  FieldWriter fields;
  fields.u32(static_cast<std::uint32_t>(proof.tools.size()));
  for (const Tool& tool : proof.tools) {
    fields.string(tool.name);
    fields.string(tool.version);
  }
  fields.string(proof.device);
  fields.string(proof.driver);
  fields.string(proof.note);
  fields.u32(static_cast<std::uint32_t>(proof.specialisations.size()));
  for (const std::string& text : proof.specialisations) fields.string(text);
  return fields.take();
}

// An item of a list takes at least four bytes, so that no count makes a loop longer than the body.
Status parse_texts(ByteView body, Proof& proof) {
  if (body.size == 0) return {};
  FieldReader fields(body);
  const std::uint32_t tools = fields.u32();
  for (std::uint32_t i = 0; i < tools && fields.ok(); ++i) {
    Tool& tool = proof.tools.emplace_back();
    tool.name = fields.string();
    tool.version = fields.string();
  }
  proof.device = fields.string();
  proof.driver = fields.string();
  proof.note = fields.string();
  const std::uint32_t count = fields.u32();
  for (std::uint32_t i = 0; i < count && fields.ok(); ++i) proof.specialisations.emplace_back(fields.string());
  return fields.complete() ? check_texts(proof) : wrong_length();
}

Status check_texts(const Proof& proof) {
  for (std::size_t i = 0; i < proof.tools.size(); ++i) {
    if (proof.tools[i].name.empty()) return {Code::malformed, "tool " + std::to_string(i) + " has no name"};
  }
  if (!proof.proven && !proof.device.empty()) return {Code::malformed, "has a device, but is not proven"};
  if (!proof.proven && !proof.driver.empty()) return {Code::malformed, "has a driver, but is not proven"};
  return {};
}

}  // namespace clbake::cache
