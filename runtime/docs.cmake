# The target `docs`: the API reference of the installed headers in <build>/docs/html, by Doxygen where it is installed.
# Warnings are errors.
find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  return()
endif()
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/clbake/*.h*)
list(FILTER headers EXCLUDE REGEX "/(finalize|choice|device_lookup).hpp$")  # not installed
set(cache_headers ${PROJECT_SOURCE_DIR}/cache/include/clbake)
list(APPEND headers ${cache_headers}/status.hpp ${cache_headers}/cache/model.hpp ${cache_headers}/cache/reader.hpp)
list(TRANSFORM headers REPLACE "(.+)" "\"\\1\"")
list(JOIN headers " " headers)
set(output ${PROJECT_BINARY_DIR}/docs)
configure_file(docs/Doxyfile.in ${output}/Doxyfile @ONLY)
add_custom_target(docs
  COMMAND ${DOXYGEN_EXECUTABLE} ${output}/Doxyfile
  COMMENT "API reference: ${output}/html/index.html"
  VERBATIM)
