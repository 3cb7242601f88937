/* The version of these headers.
 * A test keeps it equal to the version of the CMake project. */
#ifndef CLBAKE_VERSION_H
#define CLBAKE_VERSION_H

#define CLBAKE_VERSION_MAJOR 1
#define CLBAKE_VERSION_MINOR 0
#define CLBAKE_VERSION_PATCH 0

/* One number that grows with each version: 10203 is 1.2.3. */
#define CLBAKE_VERSION_NUMBER (CLBAKE_VERSION_MAJOR * 10000 + CLBAKE_VERSION_MINOR * 100 + CLBAKE_VERSION_PATCH)

#endif
