// Precision and flags, which the bodies of variants, rules and cost models share.
#pragma once

#include <clbake/gemm_kind.hpp>
#include <clbake/status.hpp>

#include "format.hpp"

#include <string>

namespace clbake::cache {

inline Status wrong_length() { return {Code::malformed, "its fields do not fill the body exactly"}; }

inline std::uint32_t transposes(const GemmKind& kind) {
  return (kind.trans_a ? format::kTransA : 0) | (kind.trans_b ? format::kTransB : 0);
}

inline void set_transposes(GemmKind& kind, std::uint32_t flags) {
  kind.trans_a = (flags & format::kTransA) != 0;
  kind.trans_b = (flags & format::kTransB) != 0;
}

inline Status check_precision(Precision precision) {
  const auto value = static_cast<std::uint32_t>(precision);
  if (format::known_precision(value)) return {};
  return {Code::unsupported_version, "unknown precision " + std::to_string(value)};
}

inline Status check_flags(std::uint32_t flags, std::uint32_t known) {
  if ((flags & format::kRefusedFlags & ~known) == 0) return {};
  return {Code::unsupported_version, "asks for a feature that this reader lacks"};
}

}  // namespace clbake::cache
