// Trust: the bundles that a library may use (Options::trust). RUNTIME.md, "Trust", says when to ask; cache/FORMAT.md,
// "Digests and signatures", what is signed; .github/SECURITY.md against whom this helps.
//
//   auto trust = clbake::trust_keys({"c0ffee..."}, 5);  // what `clbake keygen` wrote; release 5 or later
//   clbake::Options options;
//   if (trust) options.trust = *trust;  // else report trust.status(): without it every bundle would do
//
// The functions are in a library of their own, clbake::trust (pkg-config: clbake-trust), which needs libsodium.
#pragma once

#include <clbake/export.h>
#include <clbake/cache/reader.hpp>
#include <clbake/status.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clbake {

// The policy by which a library judges each of its bundles. Any number of threads at once.
class Trust {
 public:
  Trust() = default;
  Trust(const Trust&) = delete;
  Trust& operator=(const Trust&) = delete;
  virtual ~Trust() = default;

  // The bundle under a guard, which compares each blob with its digest before it is used. Fails with not_trusted, and
  // the message says why, or with out_of_memory.
  virtual Result<cache::Bundle> admit(const cache::Bundle& bundle) const = 0;

  // Name of the policy. A program in an overlay serves libraries of the policy under which it was compiled.
  virtual const std::string& scope() const = 0;
};

// Trusts one bundle: the one whose identity is `digest`, 64 hexadecimal digits, which `clbake inspect` prints. Fails
// with invalid_argument or out_of_memory.
CLBAKE_API Result<std::shared_ptr<const Trust>> trust_digest(const std::string& digest);

// Trusts bundles of release `minimum_release` or later that one of these keys signed: 64 hexadecimal digits each, which
// `clbake keygen` prints. Several, so that keys can be replaced. Fails with invalid_argument (no key, or one that is
// none) or out_of_memory.
CLBAKE_API Result<std::shared_ptr<const Trust>> trust_keys(const std::vector<std::string>& public_keys,
                                                           std::uint64_t minimum_release = 0);

}  // namespace clbake
