#!/usr/bin/env bash
# systems.sh ROOT: only cache/os knows an operating system: elsewhere no header, function or macro of one, and no path
# but by os::native and os::utf8. Excepted are what only POSIX builds (the preloaded library, PoCL's memory) and what asks
# for the processor's features.
set -u
cd "$1" || exit 1
headers='#include <(unistd|fcntl|dirent|dlfcn|link|poll|pthread|pwd|sched|spawn|termios|sys/[a-z_]+|linux/[a-z_]+|windows|io|process|direct)\.h>'
macros='^ *# *(if|ifdef|ifndef|elif) .*(_WIN32|__MINGW|_MSC_VER|__linux|__unix|__APPLE__|__ANDROID__|_POSIX)'
calls='[^a-z_](secure_getenv|setenv|unsetenv|getpid|gethostname|isatty|gmtime_r|localtime_r|dlopen|dlsym|dladdr|flock|mkdtemp)\('
paths='[^a-z_](fopen|freopen)\(|\.string\(\)|(fs|filesystem)::path\(|(if|of)stream [a-z]+\((path|file|output|name)[,)]'
found=$(git grep -nE "$headers|$macros|$calls|$paths" -- 'builder/*.[ch]pp' 'cache/*.[ch]pp' 'kernels/*.[ch]pp' \
  'runtime/*.[ch]pp' 'runtime/include/*.h' 'tools/*.[ch]pp' ':!cache/os/posix' ':!cache/os/windows' \
  ':!runtime/layer/preload' ':!runtime/layer/serve/pocl_memory.cpp' ':!runtime/src/opencl/*_features.hpp')
[ -z "$found" ] && exit 0
echo "a system outside of cache/os:"
echo "$found"
exit 1
