#include <clbake/trust.h>

#include "c/c_api.hpp"

using clbake::Result;
using clbake::Status;
using namespace clbake::c;

namespace {

Status hand_over(Result<std::shared_ptr<const clbake::Trust>> made, clbake_trust** to) {
  if (!made) return made.status();
  *to = new clbake_trust{std::move(*made)};
  return {};
}

}  // namespace

clbake_code clbake_trust_digest(const char* digest, clbake_trust** trust, clbake_error* error) {
  return run(error, [&]() -> Status {
    if (!digest) return null("digest");
    if (!trust) return null_output("trust");
    return hand_over(clbake::trust_digest(digest), trust);
  });
}

clbake_code clbake_trust_keys(const char* const* public_keys, std::size_t count, std::uint64_t minimum_release,
                              clbake_trust** trust, clbake_error* error) {
  return run(error, [&]() -> Status {
    if (count > 0 && !public_keys) return null("public_keys");
    if (!trust) return null_output("trust");
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) {
      if (!public_keys[i]) return null("a public key of the list");
      keys.emplace_back(public_keys[i]);
    }
    return hand_over(clbake::trust_keys(keys, minimum_release), trust);
  });
}

void clbake_trust_release(clbake_trust* trust) { delete trust; }
