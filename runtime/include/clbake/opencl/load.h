/* OpenCL opened at run time, for C: by a libclbake that is built with CLBAKE_LOAD_OPENCL=ON, which links no OpenCL.
 * Another libclbake does not have these functions. clbake/opencl/load.hpp says more.
 *
 *   clbake_error error;
 *   if (clbake_load_opencl(NULL, &error) != CLBAKE_OK) fprintf(stderr, "%s\n", error.message);
 *
 * Threads: before any other thread uses the library. */
#ifndef CLBAKE_OPENCL_LOAD_H
#define CLBAKE_OPENCL_LOAD_H

#include <clbake/clbake.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens OpenCL's library and uses its functions. path: a file, or a name that the system looks up; NULL for the usual
 * names. Fails with CLBAKE_NOT_FOUND, or with CLBAKE_INVALID_ARGUMENT as clbake_use_opencl. */
CLBAKE_API clbake_code clbake_load_opencl(const char* path, clbake_error* error);

/* Any function; it is called with its own type. */
typedef void (*clbake_opencl_function)(void);

/* Returns the function of this name, such as "clBuildProgram", or NULL. */
typedef clbake_opencl_function (*clbake_opencl_lookup)(const char* name, void* data);

/* Uses functions that the application has, which `lookup` finds by their names before this function returns. Fails with
 * CLBAKE_INVALID_ARGUMENT when one is missing, or when other functions are used already. */
CLBAKE_API clbake_code clbake_use_opencl(clbake_opencl_lookup lookup, void* data, clbake_error* error);

#ifdef __cplusplus
}
#endif

#endif
