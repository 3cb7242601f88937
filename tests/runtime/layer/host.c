/* host PLUGIN ARGUMENTS...: a program that loads its OpenCL with a plugin, out of other libraries' sight. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  int (*run)(int, char**) = plugin ? (int (*)(int, char**))dlsym(plugin, "main") : NULL;
  if (!run) return fprintf(stderr, "%s\n", dlerror()), 1;
  return run(count - 1, arguments + 1);
}
