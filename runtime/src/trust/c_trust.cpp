#include <clbake/trust.h>

#include "c/c_api.hpp"

using clbake::Argument;
using namespace clbake::c;

clbake_code clbake_trust_digest(const char* digest, clbake_trust** trust, clbake_error* error) {
  return run(error, [&] {
    clbake_trust** const to = given(trust, "trust", Argument::output);
    return hand_over(clbake::trust_digest(given(digest, "digest")), to);
  });
}

clbake_code clbake_trust_keys(const char* const* public_keys, std::size_t count, std::uint64_t minimum_release,
                              clbake_trust** trust, clbake_error* error) {
  return run(error, [&] {
    clbake_trust** const to = given(trust, "trust", Argument::output);
    if (count > 0) given(public_keys, "public_keys");
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) keys.emplace_back(given(public_keys[i], "a public key of the list"));
    return hand_over(clbake::trust_keys(keys, minimum_release), to);
  });
}

void clbake_trust_release(clbake_trust* trust) { delete trust; }
