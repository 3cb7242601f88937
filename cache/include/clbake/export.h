/* The mark of what libclbake and libclbake_trust export. On Windows it exports while a DLL of them is compiled; callers
 * need nothing there. Elsewhere the version scripts of runtime/ say what is exported. */
#ifndef CLBAKE_EXPORT_H
#define CLBAKE_EXPORT_H

#if defined(_WIN32) && defined(CLBAKE_MAKES_DLL)
#define CLBAKE_API __declspec(dllexport)
#else
#define CLBAKE_API
#endif

#endif
