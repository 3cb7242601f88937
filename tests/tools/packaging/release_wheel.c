/* uses.exe BUNDLE, beside the wheel's libclbake.dll: what the Python module does first, without Python. It opens the
 * library, the system's OpenCL and a bundle. */
#include <clbake/clbake.h>
#include <clbake/opencl/load.h>

#include <stdio.h>
#include <windows.h>

#define FUNCTION(name) ((__typeof__(&name))(void (*)(void))GetProcAddress(library, #name))

int main(int argc, char** argv) {
  const HMODULE library = LoadLibraryA("libclbake.dll");
  clbake_error error = {0};
  clbake_bundle* bundle = NULL;
  if (argc != 2 || !library || FUNCTION(clbake_version)() != CLBAKE_VERSION_NUMBER) {
    printf("libclbake.dll: error %lu\n", GetLastError());
    return 1;
  }
  if (FUNCTION(clbake_load_opencl)(NULL, &error) != CLBAKE_OK ||
      FUNCTION(clbake_bundle_open)(argv[1], &bundle, &error) != CLBAKE_OK) {
    printf("%s\n", error.message);
    return 1;
  }
  FUNCTION(clbake_bundle_release)(bundle);
  return 0;
}
