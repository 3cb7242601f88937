/* Which bundles a library may use, for C: clbake/trust.hpp. In a library of its own, clbake::trust (pkg-config:
 * clbake-trust).
 *
 *   const char* keys[] = {"c0ffee..."};
 *   clbake_trust* trust = NULL;
 *   if (clbake_trust_keys(keys, 1, 5, &trust, &error) == CLBAKE_OK) options.trust = trust;
 *
 * Any thread. A library keeps what it needs: a clbake_trust may be released once it is created. */
#ifndef CLBAKE_TRUST_H
#define CLBAKE_TRUST_H

#include <clbake/clbake.h>

#ifdef __cplusplus
extern "C" {
#endif

/* digest: 64 hexadecimal digits. */
clbake_code clbake_trust_digest(const char* digest, clbake_trust** trust, clbake_error* error);

/* public_keys: `count` texts of 64 hexadecimal digits, read during the call only. */
clbake_code clbake_trust_keys(const char* const* public_keys, size_t count, uint64_t minimum_release,
                              clbake_trust** trust, clbake_error* error);

void clbake_trust_release(clbake_trust* trust);

#ifdef __cplusplus
}
#endif

#endif
