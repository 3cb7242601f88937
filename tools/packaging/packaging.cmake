# The door from CLBlast: runtime/clblast.
add_executable(clbake_sources EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/sources.cpp)
target_link_libraries(clbake_sources PRIVATE clbake_builder)
clbake_warnings(clbake_sources)

include(GNUInstallDirs)
if(CLBAKE_INSTALL)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
endif()

# Installed beside the command: its man page and its completion for bash.
if(WIN32)
  return()
endif()
set(man_page ${CMAKE_CURRENT_BINARY_DIR}/clbake.1)
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
add_custom_command(
  OUTPUT ${man_page}
  COMMAND ${CMAKE_COMMAND} -E env "CLBAKE_EMULATOR=${emulator}" ${CMAKE_CURRENT_LIST_DIR}/man_page $<TARGET_FILE:clbake>
          ${man_page}
  DEPENDS clbake ${CMAKE_CURRENT_LIST_DIR}/man_page
  COMMENT "Writing the man page"
  VERBATIM)
add_custom_target(clbake_man_page ALL DEPENDS ${man_page})
set_target_properties(clbake_man_page PROPERTIES PAGE ${man_page})
if(CLBAKE_INSTALL)
  install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/completion.bash RENAME clbake
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
endif()
