# Linux with musl, or with an old glibc, by zig (PyPI's package ziglang has it). CLBAKE_ZIG_TARGET names the target, such
# as x86_64-linux-musl or x86_64-linux-gnu.2.17, CLBAKE_ZIG_PREFIX the folder with the libraries that
# tools/cmake/toolchains/static-libraries made for it. Both are variables of the environment. Without an OpenCL to link:
# -DCLBAKE_LOAD_OPENCL=ON.
foreach(variable CLBAKE_ZIG_TARGET CLBAKE_ZIG_PREFIX)
  if(NOT DEFINED ENV{${variable}})
    message(FATAL_ERROR "the variable ${variable} is not set: tools/cmake/toolchains/zig.cmake")
  endif()
endforeach()
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR $ENV{CLBAKE_ZIG_TARGET})
find_program(CLBAKE_ZIG zig REQUIRED)

# Compilers are one file each for CMake and ccache.
set(folder ${CMAKE_BINARY_DIR}/zig)
foreach(tool cc c++ ar ranlib)
  set(target)
  if(tool MATCHES "^c")
    set(target "-target $ENV{CLBAKE_ZIG_TARGET}")
  endif()
  file(WRITE ${folder}/${tool} "#!/bin/sh\nexec ${CLBAKE_ZIG} ${tool} ${target} \"$@\"\n")
  file(CHMOD ${folder}/${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${folder}/cc)
set(CMAKE_CXX_COMPILER ${folder}/c++)
set(CMAKE_AR ${folder}/ar)
set(CMAKE_RANLIB ${folder}/ranlib)

set(CMAKE_PREFIX_PATH $ENV{CLBAKE_ZIG_PREFIX})
set(CMAKE_FIND_ROOT_PATH $ENV{CLBAKE_ZIG_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} $ENV{CLBAKE_ZIG_PREFIX}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
