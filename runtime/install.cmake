# cmake --install: libraries, public headers, the licence, the CMake package and the pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS clbake_static clbake_shared EXPORT clbakeRuntime
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
set(without)
if(NOT CLBAKE_LOAD_OPENCL)
  set(without PATTERN opencl EXCLUDE)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development ${without}
        PATTERN baked_programs.hpp EXCLUDE PATTERN choice.hpp EXCLUDE PATTERN compute_capability.hpp EXCLUDE
        PATTERN device_lookup.hpp EXCLUDE PATTERN finalize.hpp EXCLUDE PATTERN includes.hpp EXCLUDE
        PATTERN learn_request.hpp EXCLUDE PATTERN layer_off.hpp EXCLUDE PATTERN overlay_directory.hpp EXCLUDE PATTERN platform.hpp EXCLUDE
        PATTERN seal.hpp EXCLUDE)  # for the builder, the tools and the layer
install(FILES ${PROJECT_SOURCE_DIR}/cache/include/clbake/export.h
              ${PROJECT_SOURCE_DIR}/cache/include/clbake/gemm_kind.hpp ${PROJECT_SOURCE_DIR}/cache/include/clbake/status.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/clbake COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/cache/include/clbake/cache/model.hpp
              ${PROJECT_SOURCE_DIR}/cache/include/clbake/cache/reader.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/clbake/cache COMPONENT development)
foreach(component runtime development)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ${component})
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/clbake)
install(EXPORT clbakeRuntime NAMESPACE clbake:: DESTINATION ${package} COMPONENT development)
if(CLBAKE_HAS_TRUST)
  install(TARGETS clbake_trust_static clbake_trust_shared EXPORT clbakeTrust
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  install(EXPORT clbakeTrust NAMESPACE clbake:: DESTINATION ${package} COMPONENT development)
endif()
install(TARGETS clbake_weights_static clbake_weights_shared EXPORT clbakeWeights
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(EXPORT clbakeWeights NAMESPACE clbake:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/clbakeConfig.cmake.in clbakeConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(clbakeConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clbakeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/clbakeConfigVersion.cmake
              cmake/ClbakeAddBundle.cmake cmake/bundle.s.in cmake/bundle.coff.s.in cmake/bundle.h.in
        DESTINATION ${package} COMPONENT development)

# The way from the pkg-config file to the prefix, so that an installed tree can be moved.
cmake_path(SET pkgconfig NORMALIZE ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pkgconfig} OUTPUT_VARIABLE up_to_prefix)
set(cxx_library ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cxx_library INCLUDE REGEX "^(std)?c\\+\\+$")
set(private_libs ${cxx_library} m ${CMAKE_DL_LIBS})
list(TRANSFORM private_libs PREPEND -l)
list(JOIN private_libs " " private_libs)
configure_file(cmake/clbake.pc.in clbake.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clbake.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
configure_file(cmake/clbake-weights.pc.in clbake-weights.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clbake-weights.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
if(CLBAKE_HAS_TRUST)
  configure_file(cmake/clbake-trust.pc.in clbake-trust.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clbake-trust.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()
