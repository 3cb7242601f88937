/* The door from CLBlast, libclbake-clblast: CLBlast's GEMM, served from a bundle. A program that uses CLBlast needs
 * nothing of this header, as the environment and files in known places say where the bundle is: CLBLAST.md. */
#ifndef CLBAKE_CLBLAST_DOOR_H
#define CLBAKE_CLBLAST_DOOR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Serves from the bundle in this file, before all others, whatever the environment says. Returns 0, or the number of a
 * clbake::Code (clbake/status.hpp): the file is not there, damaged and so on; nothing changed then. The file is read
 * later, too: it must not change, but may be replaced by rename. What was loaded from other bundles is loaded anew. Any
 * thread. */
int clbake_clblast_use_bundle(const char* path);

#ifdef __cplusplus
}
#endif

#endif
