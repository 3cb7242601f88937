#!/bin/sh
# examples.sh SOURCE_DIR OUTPUT_DIR: the examples of the two headers and of the README as sources that compile, so that
# what users copy works. Each becomes a function of context, device, queue, a, b and c.
set -eu
source=$1 output=$2
include=$source/runtime/include/clbake
parameters="cl_context context, cl_device_id device, cl_command_queue queue, cl_mem a, cl_mem b, cl_mem c"
{
  echo "#include <clbake/clbake.hpp>"
  echo "clbake::Status header_example($parameters);"
  echo "clbake::Status header_example($parameters) {"
  sed -n '/^#pragma once/q; s|^//   ||p' "$include/clbake.hpp"
  echo "  return status;"
  echo "}"
} > "$output/header_example.cpp"
{
  echo "#include <clbake/clbake.h>"
  echo "#include <stdio.h>"
  echo "clbake_code c_header_example($parameters);"
  echo "clbake_code c_header_example($parameters) {"
  echo "  clbake_code code;"
  sed -n '/^#ifndef/q; s|^ \*   ||p' "$include/clbake.h" | sed 's|^clbake_library_gemm|code = &|'
  echo "  return code;"
  echo "}"
} > "$output/c_header_example.c"
sed -n '/^```cpp/,/^```$/p' "$source/README.md" | sed '/^```/d; s/^clbake::Status multiply(/static &/' > "$output/readme_example.hpp"
