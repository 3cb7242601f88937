# clbake_warnings(TARGET): the warnings that every target of the project is built with.
function(clbake_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                                           $<$<BOOL:${CLBAKE_WERROR}>:-Werror>)
endfunction()
