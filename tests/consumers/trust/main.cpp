// An application that trusts the keys of its bundle: exits with 0 if it trusts the right one, and no other. Needs no
// OpenCL device.
#include <clbake/trust.h>
#include <clbake/clbake.hpp>
#include <clbake/trust.hpp>

#include <signed_clbake.h>
#include <cstdio>

int main() {
  const char* const key = "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c";
  const auto bundle = clbake::Bundle::from_memory({signed_clbake, signed_clbake_size});
  if (!bundle) {
    std::fprintf(stderr, "%s\n", bundle.status().message().c_str());
    return 1;
  }
  clbake::Options options;
  const auto trust = clbake::trust_keys({key}, 7), later = clbake::trust_keys({key}, 8);
  if (!trust || !later) return 2;
  options.trust = *trust;
  if (!options.trust->admit(*bundle)) return 3;
  const clbake::Status refused = (*later)->admit(*bundle).status();
  if (refused.code() != clbake::Code::not_trusted) return 4;
  clbake_trust* in_c = nullptr;
  if (clbake_trust_keys(&key, 1, 7, &in_c, nullptr) != CLBAKE_OK) return 5;
  clbake_trust_release(in_c);
  return 0;
}
