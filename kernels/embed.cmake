# cmake -DOUTPUT=sources.cpp -DNAMESPACE=a::b "-DINPUTS=a.cl;b-c.json" -P embed.cmake
# Writes a C++ file that holds the text of each input, as `const char a_cl[]`, `const char b_c_json[]` in the namespace,
# and all of them as `files`: pairs of a file's name and text, with a pair of nulls behind the last.
set(text "// Written by kernels/embed.cmake.\nnamespace ${NAMESPACE} {\n")
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
