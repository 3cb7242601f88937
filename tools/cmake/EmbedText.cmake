# clbake_embed_text(OUTPUT NAMESPACE FILES...): makes OUTPUT.cpp in the binary directory, a C++ file with the text of each
# input, as `const char a_cl[]`, `const char b_c_json[]` in the namespace, and all of them as `files`: pairs of a file's
# name and text, with a pair of nulls behind the last.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(CLBAKE_EMBED_TEXT ${CMAKE_CURRENT_LIST_FILE})
  function(clbake_embed_text output namespace)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${output}.cpp)
    add_custom_command(
      OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${file} -DNAMESPACE=${namespace} "-DINPUTS=${ARGN}" -P ${CLBAKE_EMBED_TEXT}
      DEPENDS ${ARGN} ${CLBAKE_EMBED_TEXT}
      COMMENT "Embedding ${output}"
      VERBATIM)
  endfunction()
  return()
endif()

# The build runs this file as a script, which writes one such file.
set(text "// Written by tools/cmake/EmbedText.cmake.\nnamespace ${NAMESPACE} {\n")
set(list "")
foreach(input IN LISTS INPUTS)
  get_filename_component(name ${input} NAME)
  string(MAKE_C_IDENTIFIER ${name} symbol)
  file(READ ${input} source)
  string(APPEND text "extern const char ${symbol}[];\nconst char ${symbol}[] = R\"clbake(${source})clbake\";\n")
  string(APPEND list "{\"${name}\", ${symbol}}, ")
endforeach()
string(APPEND text "extern const char* const files[][2];\nconst char* const files[][2] = {${list}{nullptr, nullptr}};\n"
                   "}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
