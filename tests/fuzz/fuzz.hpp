// Shared by the fuzz targets. A target is one file NAME_fuzz.cpp with one LLVMFuzzerTestOneInput, which gets arbitrary
// bytes and must not crash; `expect` states its claims about accepted input. Inputs worth keeping lie in corpus/NAME.
// CMakeLists.txt says how to run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace clbake::fuzz {

// Ends the process when a claim does not hold: a fuzzer keeps the input then, and a replay fails.
inline void expect(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", claim);
  std::abort();
}

// Replaces the file.
inline void write_file(const std::string& path, const void* data, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  expect(file.flush().good(), "the input can be written to a file");
}

}  // namespace clbake::fuzz
