include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-Oz CLBAKE_HAS_OZ)

# clbake_small(TARGET FAST files...): compiled for a small size, as it becomes a part of other programs: a third of what
# -O2 gives. FAST names the sources in which every call or every byte counts.
function(clbake_small target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FAST")
  set(smallest $<IF:$<BOOL:${CLBAKE_HAS_OZ}>,-Oz,-Os>)
  # A program that collects sections keeps only what it calls; nobody replaces a function of the library.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections -fno-semantic-interposition
                                           $<$<NOT:$<CONFIG:Debug>>:${smallest}> -fno-rtti)
  set_source_files_properties(${ARG_FAST} PROPERTIES COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O2>)
endfunction()
