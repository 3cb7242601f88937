/* The mark of what a library of clbake exports, where it is compiled with CLBAKE_MAKES_LIBRARY: callers need nothing.
 * On Linux the version scripts of runtime/ say as much. */
#ifndef CLBAKE_EXPORT_H
#define CLBAKE_EXPORT_H

#if defined(CLBAKE_MAKES_LIBRARY) && defined(_WIN32)
#define CLBAKE_API __declspec(dllexport)
#elif defined(CLBAKE_MAKES_LIBRARY)
#define CLBAKE_API __attribute__((visibility("default")))
#else
#define CLBAKE_API
#endif

#endif
