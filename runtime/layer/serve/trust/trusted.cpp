#include "serve/trust/trusted.hpp"

#include <clbake/trust.hpp>

#include "settings.hpp"

#include <memory>

namespace clbake::layer::serve {

#ifdef CLBAKE_LAYER_HAS_TRUST

// serve/trust/sodium.cpp
bool has_sodium();

Result<cache::Bundle> trusted(const cache::Bundle& bundle) {
  if (settings().trust.empty()) return bundle;
  if (!has_sodium()) return {Code::not_trusted, "not trusted: libsodium, which checks signatures, cannot be loaded"};
  static const auto& trust = *new Result<std::shared_ptr<const Trust>>(trust_keys(settings().trust));
  if (!trust) return Status(Code::not_trusted, "not trusted: CLBAKE_TRUST: " + trust.status().message());
  return (*trust)->admit(bundle);
}

#else

Result<cache::Bundle> trusted(const cache::Bundle& bundle) {
  if (settings().trust.empty()) return bundle;
  return {Code::not_trusted, "not trusted: this layer was built without libsodium, which checks signatures"};
}

#endif

}  // namespace clbake::layer::serve
