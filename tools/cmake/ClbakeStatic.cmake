# CLBAKE_STATIC: the command for other machines: `cmake --build DIR --target clbake`. It links the static forms of all
# libraries but the C library (with musl that one, too, and then opens no OpenCL), and opens OpenCL at run time.
if(CLBAKE_STATIC)
  set(CLBAKE_LOAD_OPENCL ON)
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${CMAKE_STATIC_LIBRARY_SUFFIX})
  set(Boost_USE_STATIC_LIBS ON)
endif()
