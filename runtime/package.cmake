# The library that users link and install: libclbake, static and shared, of the objects of cache/ and runtime/.
# clbake::runtime is the kind that BUILD_SHARED_LIBS asks for. A subproject builds that one only.
include(cmake/exports.cmake)
foreach(kind static shared)
  string(TOUPPER ${kind} KIND)
  clbake_objects(objects ${kind} clbake_os clbake_cache clbake_cache_writer clbake_runtime)
  add_library(clbake_${kind} ${KIND} ${objects})
  add_library(clbake::${kind} ALIAS clbake_${kind})
  target_compile_features(clbake_${kind} INTERFACE cxx_std_17)
  target_include_directories(clbake_${kind} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cache/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(clbake_${kind} PUBLIC ${CLBAKE_OPENCL} PRIVATE PkgConfig::CLBAKE_ZSTD ${CMAKE_DL_LIBS})
  set_target_properties(clbake_${kind} PROPERTIES OUTPUT_NAME clbake EXPORT_NAME ${kind} LINKER_LANGUAGE CXX)
endforeach()
# A shared library or a plug-in that embeds the static one does not export it again, where the linker can.
include(CheckLinkerFlag)
check_linker_flag(CXX LINKER:--exclude-libs,libclbake.a CLBAKE_HAS_EXCLUDE_LIBS)
if(CLBAKE_HAS_EXCLUDE_LIBS)
  target_link_options(clbake_static INTERFACE LINKER:--exclude-libs,libclbake.a)
endif()
set_target_properties(clbake_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
clbake_exports(clbake_shared exports.map)

if(BUILD_SHARED_LIBS)
  add_library(clbake::runtime ALIAS clbake_shared)
  set(other clbake_static)
else()
  add_library(clbake::runtime ALIAS clbake_static)
  set(other clbake_shared)
endif()
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(${other} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# clbake::trust, of the same kind as clbake::runtime, beside it.
if(CLBAKE_HAS_TRUST)
  foreach(kind static shared)
    string(TOUPPER ${kind} KIND)
    clbake_objects(objects ${kind} clbake_runtime_trust)
    add_library(clbake_trust_${kind} ${KIND} ${objects})
    add_library(clbake::trust_${kind} ALIAS clbake_trust_${kind})
    target_link_libraries(clbake_trust_${kind} PUBLIC clbake_${kind} PRIVATE PkgConfig::CLBAKE_SODIUM)
    set_target_properties(clbake_trust_${kind} PROPERTIES
      OUTPUT_NAME clbake_trust EXPORT_NAME trust_${kind} LINKER_LANGUAGE CXX)
  endforeach()
  if(CLBAKE_HAS_EXCLUDE_LIBS)
    target_link_options(clbake_trust_static INTERFACE LINKER:--exclude-libs,libclbake_trust.a)
  endif()
  set_target_properties(clbake_trust_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH "$ORIGIN")  # finds libclbake beside it, wherever both are installed
  clbake_exports(clbake_trust_shared trust_exports.map)
  if(BUILD_SHARED_LIBS)
    add_library(clbake::trust ALIAS clbake_trust_shared)
  else()
    add_library(clbake::trust ALIAS clbake_trust_static)
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL)  # only for those who link it
    set_target_properties(clbake_trust_static clbake_trust_shared PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()

# clbake::weights, alike, which needs no other.
foreach(kind static shared)
  string(TOUPPER ${kind} KIND)
  clbake_objects(objects ${kind} clbake_runtime_weights)
  add_library(clbake_weights_${kind} ${KIND} ${objects})
  add_library(clbake::weights_${kind} ALIAS clbake_weights_${kind})
  target_compile_features(clbake_weights_${kind} INTERFACE cxx_std_17)
  target_include_directories(clbake_weights_${kind} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cache/include>
    $<INSTALL_INTERFACE:include>)
  set_target_properties(clbake_weights_${kind} PROPERTIES
    OUTPUT_NAME clbake_weights EXPORT_NAME weights_${kind} LINKER_LANGUAGE CXX)
endforeach()
set_target_properties(clbake_weights_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
clbake_exports(clbake_weights_shared weights_exports.map)
if(BUILD_SHARED_LIBS)
  add_library(clbake::weights ALIAS clbake_weights_shared)
else()
  add_library(clbake::weights ALIAS clbake_weights_static)
endif()
if(NOT PROJECT_IS_TOP_LEVEL)
  set_target_properties(clbake_weights_static clbake_weights_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

include(cmake/ClbakeAddBundle.cmake)
if(CLBAKE_INSTALL)
  include(install.cmake)
endif()
