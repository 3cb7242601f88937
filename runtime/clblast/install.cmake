# cmake --install --component clblast: the library, its header, the CMake package and the pkg-config file, and the folder
# of the bundle, empty. The page is with the others.
include(GNUInstallDirs)
install(TARGETS clbake_clblast EXPORT clbakeClblast
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT clblast
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT clblast
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT clblast)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT clblast)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT clblast)
install(EXPORT clbakeClblast NAMESPACE clbake:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/clbake COMPONENT clblast)
configure_file(${PROJECT_SOURCE_DIR}/runtime/cmake/clbake-clblast.pc.in clbake-clblast.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clbake-clblast.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT clblast)
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_LIBDIR}/clbake COMPONENT clblast)
