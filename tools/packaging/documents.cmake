# The pages that the README links, installed beside the libraries and the command with links that hold there.
include(GNUInstallDirs)
cmake_path(SET documents_folder NORMALIZE ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR})
cmake_path(SET headers_folder NORMALIZE ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(RELATIVE_PATH headers_folder BASE_DIRECTORY ${documents_folder} OUTPUT_VARIABLE way_to_headers)
set(documents ${PROJECT_BINARY_DIR}/documents)
file(GLOB_RECURSE pages ${PROJECT_SOURCE_DIR}/cache/*.md ${PROJECT_SOURCE_DIR}/kernels/*.md
     ${PROJECT_SOURCE_DIR}/runtime/*.md ${PROJECT_SOURCE_DIR}/builder/*.md ${PROJECT_SOURCE_DIR}/tools/*.md)
add_custom_command(
  OUTPUT ${documents}/README.md
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/documents ${PROJECT_SOURCE_DIR} ${documents} ${way_to_headers}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/documents ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${pages}
  COMMENT "Writing the documents to install"
  VERBATIM)
add_custom_target(clbake_documents ALL DEPENDS ${documents}/README.md)
install(DIRECTORY ${documents}/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
