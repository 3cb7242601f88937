# cmake -DOUTPUT=sources.cpp "-DINPUTS=a.cl;b.cl" -P embed.cmake
# Writes a C++ file that holds the text of each input, as `const char a_cl[]` in clbake::kernels::embedded.
set(text "// Written by kernels/embed.cmake.\nnamespace clbake::kernels::embedded {\n")
foreach(input IN LISTS INPUTS)
  get_filename_component(stem ${input} NAME_WE)
  file(READ ${input} source)
  string(APPEND text "extern const char ${stem}_cl[];\nconst char ${stem}_cl[] = R\"clbake(${source})clbake\";\n")
endforeach()
string(APPEND text "}  // namespace clbake::kernels::embedded\n")
file(WRITE ${OUTPUT} "${text}")
