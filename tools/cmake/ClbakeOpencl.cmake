# CLBAKE_OPENCL: what a target links that calls OpenCL; CLBAKE_OPENCL_PACKAGE and _MODULE: its CMake package and its
# module of pkg-config. Either the library, or with CLBAKE_LOAD_OPENCL the headers alone:
# the functions that clbake's sources call get other names then, under which runtime/src/opencl/table defines them. So
# they cannot clash with those that the application has.
if(NOT CLBAKE_LOAD_OPENCL)
  find_package(OpenCL REQUIRED)
  set(CLBAKE_OPENCL OpenCL::OpenCL)
  set(CLBAKE_OPENCL_PACKAGE OpenCL)
  set(CLBAKE_OPENCL_MODULE OpenCL)
  return()
endif()

if(NOT TARGET OpenCL::Headers)
  find_package(OpenCLHeaders REQUIRED)
endif()
set(CLBAKE_OPENCL OpenCL::Headers)
set(CLBAKE_OPENCL_PACKAGE OpenCLHeaders)
set(CLBAKE_OPENCL_MODULE OpenCL-Headers)
set(opencl_functions ${PROJECT_SOURCE_DIR}/runtime/src/opencl/table/functions.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${opencl_functions})
file(READ ${opencl_functions} names)
string(REGEX REPLACE "#define CLBAKE_OTHER_FUNCTIONS.*" "" names "${names}")
string(REGEX MATCHALL "cl[A-Z][A-Za-z]+" names "${names}")
list(TRANSFORM names REPLACE "(.+)" "\\1=libclbake_\\1")
add_compile_definitions(${names})

# The layer's other half, the library to preload, has functions of OpenCL's own names.
list(TRANSFORM names REPLACE "=.*" "" OUTPUT_VARIABLE CLBAKE_OPENCL_NAMES)
list(TRANSFORM CLBAKE_OPENCL_NAMES PREPEND -U)

# The door from CLBlast and the tests call more of OpenCL than the table has.
foreach(part CLBLAST BUILD_TESTS)
  set(CLBAKE_${part} OFF)
endforeach()
