# cmake --install --component clblast: the library, its header and its CMake package; the page is with the others.
include(GNUInstallDirs)
install(TARGETS clbake_clblast EXPORT clbakeClblast
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT clblast)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT clblast)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT clblast)
install(EXPORT clbakeClblast NAMESPACE clbake:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/clbake COMPONENT clblast)
