include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-Oz CLBAKE_HAS_OZ)

option(CLBAKE_ONE_UNIT "Compile several sources as one unit: in half the time, and the embedded library 7 % smaller" ON)

# clbake_small(TARGET FAST files...): compiled for a small size, as it becomes a part of other programs: a third of what
# -O2 gives. FAST names the sources in which every call or every byte counts. With run-time type information: without
# it, the sanitizers of a program that embeds the library take its shared objects for foreign ones.
function(clbake_small target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FAST")
  set(smallest $<IF:$<BOOL:${CLBAKE_HAS_OZ}>,-Oz,-Os>)
  # A program that collects sections keeps only what it calls; nobody replaces a function of the library.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections -fno-semantic-interposition
                                           $<$<NOT:$<CONFIG:Debug>>:${smallest}>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CLBAKE_ONE_UNIT} UNITY_BUILD_BATCH_SIZE 0)
  # Without fused multiply-add, which only some processors have: costs, and so choices, are equal on all.
  set_source_files_properties(${ARG_FAST} PROPERTIES COMPILE_OPTIONS "-ffp-contract=off;$<$<NOT:$<CONFIG:Debug>>:-O2>")
endfunction()
