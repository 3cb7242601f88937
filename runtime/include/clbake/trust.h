/* Trust for C: the bundles that a library may use. clbake/trust.hpp is the same for C++. In a library of its own,
 * clbake::trust (pkg-config: clbake-trust).
 *
 *   const char* keys[] = {"c0ffee..."};
 *   clbake_trust* trust = NULL;
 *   if (clbake_trust_keys(keys, 1, 5, &trust, &error) == CLBAKE_OK) options.trust = trust;
 *
 * Any thread. A library keeps what it needs: a clbake_trust may be released once the library is created. */
#ifndef CLBAKE_TRUST_H
#define CLBAKE_TRUST_H

#include <clbake/clbake.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Trusts the bundle of this identity only. digest: 64 hexadecimal digits, which `clbake inspect` prints. Fails with
 * CLBAKE_INVALID_ARGUMENT or CLBAKE_OUT_OF_MEMORY. */
CLBAKE_API clbake_code clbake_trust_digest(const char* digest, clbake_trust** trust, clbake_error* error);

/* Trusts bundles that one of the keys signed with a release number of at least minimum_release. public_keys: `count`
 * texts of 64 hexadecimal digits, read during the call only. Fails with CLBAKE_INVALID_ARGUMENT or
 * CLBAKE_OUT_OF_MEMORY. */
CLBAKE_API clbake_code clbake_trust_keys(const char* const* public_keys, size_t count, uint64_t minimum_release,
                                         clbake_trust** trust, clbake_error* error);

CLBAKE_API void clbake_trust_release(clbake_trust* trust);

#ifdef __cplusplus
}
#endif

#endif
